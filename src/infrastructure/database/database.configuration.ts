import { IsInt, IsOptional, Max, Min, ValidateBy } from 'class-validator';
import { Configuration, EnvironmentVariable } from '../config/index.js';
import { parsedUrl } from '../urls/index.js';

/** Every part must be readable, or the driver fails later in words that name no variable. */
function isDatabaseUrl(value: unknown): boolean {
  if (typeof value !== 'string' || !/^postgres(?:ql)?:\/\//.test(value)) return false;
  const url = parsedUrl(value);
  if (url === undefined) return false;
  return [url.username, url.password, url.pathname].every((part) => !/%(?![0-9a-f]{2})/i.test(part));
}

@Configuration('Database')
export class DatabaseConfiguration {
  @EnvironmentVariable(
    'DATABASE_URL',
    'PostgreSQL 15 or later, as `postgres://user:password@host:port/database`. Without it a developer’s installation runs an embedded one.',
    { secret: true },
  )
  @IsOptional()
  @ValidateBy({
    name: 'isDatabaseUrl',
    validator: {
      validate: isDatabaseUrl,
      defaultMessage: () =>
        'url must be a URL such as postgres://user:password@host:5432/database; special characters are written as %XX',
    },
  })
  url?: string;

  @EnvironmentVariable('DATABASE_POOL_SIZE', 'The most connections that this process opens.')
  @IsInt()
  // Each piece of scheduled work may hold one connection for its lock and another for its statements.
  @Min(5)
  @Max(200)
  poolSize: number = 10;

  @EnvironmentVariable(
    'DATABASE_CONNECT_TIMEOUT_MS',
    'How long a request waits for a connection before it is answered 503.',
  )
  @IsInt()
  @Min(100)
  @Max(60_000)
  connectTimeoutMilliseconds: number = 2_000;

  @EnvironmentVariable('DATABASE_STATEMENT_TIMEOUT_MS', 'How long one statement of a request may run.')
  @IsInt()
  @Min(100)
  @Max(600_000)
  statementTimeoutMilliseconds: number = 10_000;

  @EnvironmentVariable(
    'MIGRATE_ON_START',
    'Whether the service brings the schema up to date when it starts; otherwise `cli migrate` does.',
  )
  migrateOnStart: boolean = true;
}
