import { IsIn, type ValidationArguments } from 'class-validator';
import {
  Configuration,
  EnvironmentVariable,
  isCertificate,
  IsIntegerBetween,
  Satisfies,
  type EncryptionRules,
  type ProductionRules,
} from '../config/index.js';
import {
  acceptsAuthority,
  databaseUrlProblem,
  driverAddress,
  isUnencrypted,
  roleOf,
  type DriverAddress,
} from './database-address.js';

const DISTRIBUTIONS = ['none', 'citus'] as const;
export type Distribution = (typeof DISTRIBUTIONS)[number];

/**
 * The tables that `DATABASE_DISTRIBUTION=citus` spreads over the nodes: only the request log, which is most of all data and of
 * all writes. Each is partitioned by day, and has IDs from a sequence `<table>_id_seq`. Rows
 * with the same value in the column are on the same node.
 */
export const DISTRIBUTED_TABLES = [{ table: 'request_log', column: 'client_id' }] as const;

/** Validates the URL of a database, because the errors of the driver do not name the variable. */
function IsDatabaseUrl(): PropertyDecorator {
  return Satisfies(isDatabaseUrl, ({ value }) => `$property ${databaseUrlProblem(String(value))}`);
}

const isDatabaseUrl = (value: unknown): boolean => databaseUrlProblem(String(value)) === undefined;

function isOnlyTlsSetting(_authority: unknown, context?: ValidationArguments): boolean {
  const { url = '', readUrl = '' } = (context?.object as DatabaseConfiguration | undefined) ?? {};
  return [url, readUrl].every(acceptsAuthority);
}

function isOfAnotherRole(ownerUrl: unknown, context?: ValidationArguments): boolean {
  const url = (context?.object as DatabaseConfiguration | undefined)?.url;
  // The other check reports it.
  if (url !== undefined && !isDatabaseUrl(url)) return true;
  const role = roleOf(url ?? '');
  return role !== undefined && role !== roleOf(String(ownerUrl));
}

@Configuration('Database')
export class DatabaseConfiguration implements EncryptionRules, ProductionRules {
  @EnvironmentVariable(
    'DATABASE_URL',
    'URL of the database, PostgreSQL 15 or later with the encoding UTF8: `postgres://user:password@host:port/database`, or another form that libpq knows, such as `postgres://user:password@/database?host=/var/run/postgresql` for a Unix-domain socket. Add `?sslmode=verify-full` for TLS. Outside production, the default is an embedded PostgreSQL.',
    { secret: true },
  )
  @IsDatabaseUrl()
  url?: string;

  @EnvironmentVariable(
    'DATABASE_OWNER_URL',
    'URL of the database with the role that owns the tables. If it is set, migrations use it, and grant the role of `DATABASE_URL` only what the service needs. Only processes that migrate need it.',
    { secret: true },
  )
  @IsDatabaseUrl()
  @Satisfies(
    isOfAnotherRole,
    'ownerUrl must name a different role than DATABASE_URL, which must also name one',
  )
  ownerUrl?: string;

  @EnvironmentVariable(
    'DATABASE_READ_URL',
    'URL of a streaming replica of the database. If it is set, the overview, exports, and later pages of the request log and of events use the replica while it is available and not too far behind.',
    { secret: true },
  )
  @IsDatabaseUrl()
  readUrl?: string;

  @EnvironmentVariable(
    'DATABASE_READ_MAX_LAG_SECONDS',
    'Seconds that the replica may be behind. If it is further behind, queries use the primary.',
  )
  @IsIntegerBetween(1, 30)
  maxReadLagSeconds: number = 10;

  @EnvironmentVariable(
    'DATABASE_CA',
    'Certificate (PEM) of the only trusted certificate authority of the database. If it is set, all connections use TLS.',
  )
  @Satisfies(isCertificate, 'authority must be a certificate in PEM')
  @Satisfies(
    isOnlyTlsSetting,
    'authority must be the only TLS setting: remove sslmode, sslrootcert, sslcert and sslkey from DATABASE_URL and DATABASE_READ_URL',
  )
  authority?: string;

  @EnvironmentVariable(
    'DATABASE_POOL_SIZE',
    'Maximum number of connections in the main pool of this process.',
  )
  @IsIntegerBetween(5, 200)
  poolSize: number = 10;

  @EnvironmentVariable(
    'DATABASE_CONNECT_TIMEOUT_MS',
    'Milliseconds that a request waits for a connection before it fails with 503.',
  )
  @IsIntegerBetween(100, 60_000)
  connectTimeoutMilliseconds: number = 2_000;

  @EnvironmentVariable(
    'DATABASE_START_TIMEOUT_MS',
    'Milliseconds for which a starting process keeps trying to connect to an unavailable database before it exits. 0 disables retries.',
  )
  @IsIntegerBetween(0, 3_600_000)
  startTimeoutMilliseconds: number = 60_000;

  @EnvironmentVariable(
    'DATABASE_STATEMENT_TIMEOUT_MS',
    'Milliseconds that one statement of a request may run.',
  )
  @IsIntegerBetween(100, 600_000)
  statementTimeoutMilliseconds: number = 10_000;

  @EnvironmentVariable(
    'MIGRATE_ON_START',
    'Whether the service runs pending migrations when it starts. If it is disabled, run `mcs-admin migrate`.',
  )
  migrateOnStart: boolean = true;

  @EnvironmentVariable(
    'DATABASE_DISTRIBUTION',
    'Whether large tables are distributed over several servers: `none`, or `citus`. With `citus`, a process starts only if the database has the extension and worker nodes, and `mcs-admin database distribute` has run.',
  )
  @IsIn(DISTRIBUTIONS)
  distribution: Distribution = 'none';

  /** Whether partitions are created at startup. Operator commands disable it, to show the partitions as they are. */
  rotateOnStart = true;

  productionProblems(): string[] {
    return this.url
      ? []
      : ['DATABASE_URL is required in production: the embedded database is for development.'];
  }

  unencryptedSettings(): string[] {
    const urls = {
      DATABASE_URL: this.url,
      DATABASE_OWNER_URL: this.ownerUrl,
      DATABASE_READ_URL: this.readUrl,
    };
    const isPlain = (url = ''): boolean => this.authority === undefined && isUnencrypted(url);
    return Object.entries(urls).flatMap(([name, url]) => (isPlain(url) ? [name] : []));
  }

  /** The role that the service runs with, if another role owns the tables. */
  get serviceRole(): string | undefined {
    return this.ownerUrl === undefined ? undefined : roleOf(this.url ?? '');
  }

  /** Options of `pg` that all connections share. */
  get driverAddress(): DriverAddress {
    return driverAddress({ url: this.url ?? '', authority: this.authority });
  }

  get readAddress(): DriverAddress | undefined {
    return this.readUrl === undefined
      ? undefined
      : driverAddress({ url: this.readUrl, authority: this.authority });
  }
}
