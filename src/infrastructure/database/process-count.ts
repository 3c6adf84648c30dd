import { Injectable } from '@nestjs/common';
import type pg from 'pg';
import { advisoryLockKey } from './advisory-lock.js';
import { DatabaseConfiguration } from './database.configuration.js';
import { DedicatedConnection } from './dedicated-connection.js';

/** A place among the processes that are counted. */
export interface CountedProcess {
  close(): Promise<void>;
}

/** A 64-bit key stands in two halves in `pg_locks`. Sessions of other databases have locks of their own. */
const HOLDERS = `
  SELECT count(*)::int AS holders FROM pg_locks
  WHERE locktype = 'advisory' AND objsubid = 1 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (classid::bigint << 32 | objid::bigint) = $1::bigint`;

/**
 * Counts the processes on this database that do the same. Each holds a shared advisory lock on a connection of
 * its own, which PostgreSQL drops with the connection: a process that was killed is counted no more. The
 * connections of a pool would tell nothing, neither how many processes have them nor that an idle one is there.
 */
@Injectable()
export class ProcessCount {
  constructor(private readonly configuration: DatabaseConfiguration) {}

  /**
   * Has this process counted until it is closed.
   *
   * @param hear called once, with how many do the activity that most do, this one included
   */
  join(activities: readonly string[], hear: (processes: number) => void): CountedProcess {
    let isHeard = false;
    return new DedicatedConnection(this.configuration, {
      name: 'presence',
      use: async (client) => {
        const keys = activities.map((activity) => advisoryLockKey(`process: ${activity}`));
        // First: of two that start at the same moment, one at least must see the other.
        for (const key of keys) await client.query('SELECT pg_advisory_lock_shared($1)', [key]);
        if (isHeard) return;
        let most = 0;
        for (const key of keys) most = Math.max(most, await holdersOf(client, key));
        isHeard = true;
        hear(most);
      },
    });
  }
}

async function holdersOf(client: pg.Client, key: string): Promise<number> {
  const { rows } = await client.query<{ holders: number }>(HOLDERS, [key]);
  return rows[0]?.holders ?? 0;
}
