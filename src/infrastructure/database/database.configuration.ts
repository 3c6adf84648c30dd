import { IsInt, IsOptional, Matches, Max, Min } from 'class-validator';
import { Configuration, EnvironmentVariable } from '../config/index.js';

@Configuration('Database')
export class DatabaseConfiguration {
  @EnvironmentVariable(
    'DATABASE_URL',
    'PostgreSQL 15 or later, as `postgres://user:password@host:port/database`. Without it a developer’s installation runs an embedded one.',
    { secret: true },
  )
  @IsOptional()
  @Matches(/^postgres(ql)?:\/\//, { message: 'url must begin with postgres://' })
  url?: string;

  @EnvironmentVariable('DATABASE_POOL_SIZE', 'The most connections that this process opens.')
  @IsInt()
  @Min(2)
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
