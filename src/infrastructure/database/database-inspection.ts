import { clockLead } from './database-clock.js';
import type { DatabaseConfiguration } from './database.configuration.js';
import { withDatabase } from './migrate.js';
import { inspectMigrations, type MigrationsState } from './migration-checksums.js';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** The properties of the database and of the role of the service that an operator should know. */
export interface DatabaseInspection {
  readonly version: string;
  readonly role: string;
  /** Why the role can remove the protection of the audit log; undefined if it cannot. */
  readonly excess: 'superuser' | 'owner' | undefined;
  readonly migrations: MigrationsState;
  /** Milliseconds that the clock of the database is ahead of the given time. */
  readonly clockLead: number;
}

/**
 * Inspects the database as the role of the service. Changes nothing.
 *
 * @param now returns the time of this process in milliseconds
 * @throws DatabaseStartError when the database is unreachable or too old
 */
export function inspectDatabase(
  { url = '', authority }: DatabaseConfiguration,
  now: () => number,
): Promise<DatabaseInspection> {
  return withDatabase({ url, authority }, 0, async (dataSource) => {
    const [row] = await dataSource.query(
      `SELECT current_setting('server_version') AS version, rolname AS role, rolsuper AS "isSuperuser",
              coalesce(pg_has_role(relowner, 'MEMBER'), false) AS "isOwner"
         FROM pg_roles LEFT JOIN pg_class ON pg_class.oid = to_regclass('schema_migration') WHERE rolname = current_user`,
    );
    return {
      version: row.version,
      role: row.role,
      excess: row.isSuperuser ? 'superuser' : row.isOwner ? 'owner' : undefined,
      migrations: await inspectMigrations(dataSource),
      clockLead: await clockLead(dataSource, now),
    };
  });
}

/** Checks whether the database can serve requests. */
@Injectable()
export class DatabaseProbe {
  constructor(private readonly dataSource: DataSource) {}

  /** @throws an error if the database does not respond, or accepts no writes, as after a failover */
  async acceptsWrites(): Promise<void> {
    const [{ isReadOnly }] = await this.dataSource.query<[{ isReadOnly: boolean }]>(
      `SELECT current_setting('transaction_read_only')::boolean AS "isReadOnly"`,
    );
    if (isReadOnly) throw new Error('The database is read-only');
  }
}
