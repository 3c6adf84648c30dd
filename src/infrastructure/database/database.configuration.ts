import { IsInt, IsOptional, Max, Min, ValidateBy } from 'class-validator';
import { Configuration, EnvironmentVariable, isCertificate, Satisfies } from '../config/index.js';
import { parsedUrl } from '../urls/index.js';
import {
  driverAddress,
  hasKnownTlsMode,
  allowsUnverifiedTls,
  type DriverAddress,
} from './database-address.js';

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
    'PostgreSQL 15 or later, as `postgres://user:password@host:port/database`, over TLS with `?sslmode=verify-full`. Without it a developer’s installation runs an embedded one.',
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
  @Satisfies(
    'hasKnownTlsMode',
    hasKnownTlsMode,
    'url must have none of the values of sslmode but verify-full, disable and no-verify',
  )
  url?: string;

  @EnvironmentVariable(
    'DATABASE_CA',
    'Certificate of the authority (PEM) that alone may vouch for the database, which is then spoken to over TLS only.',
  )
  @IsOptional()
  @Satisfies('isCertificate', isCertificate, 'authority must be a certificate in PEM')
  @ValidateBy({
    name: 'decidesAlone',
    validator: {
      validate: (_value, validation) =>
        allowsUnverifiedTls((validation?.object as DatabaseConfiguration | undefined)?.url ?? ''),
      defaultMessage: () =>
        'authority must stand alone: DATABASE_URL says something else about TLS (sslmode, sslrootcert, sslcert, sslkey)',
    },
  })
  authority?: string;

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

  /** For all connections alike. */
  get driverAddress(): DriverAddress {
    return driverAddress({ url: this.url ?? '', authority: this.authority });
  }
}
