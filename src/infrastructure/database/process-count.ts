import { Injectable } from '@nestjs/common';
import type pg from 'pg';
import { advisoryLockKey } from './advisory-lock.js';
import { DatabaseConfiguration } from './database.configuration.js';
import { DedicatedConnection } from './dedicated-connection.js';

/** A process that is counted until it is closed. */
export interface CountedProcess {
  close(): Promise<void>;
}

/** `pg_locks` shows a 64-bit key in two halves, and the locks of all databases. */
const HOLDERS = `
  SELECT count(*)::int AS holders FROM pg_locks
  WHERE locktype = 'advisory' AND objsubid = 1 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (classid::bigint << 32 | objid::bigint) = $1::bigint`;

/**
 * Counts the processes on this database that do the same work. Each holds a shared advisory lock on a connection of
 * its own; PostgreSQL releases the lock when the process dies. The connections of a pool cannot be counted instead:
 * one process has many of them, and an idle process may have none.
 */
@Injectable()
export class ProcessCount {
  constructor(private readonly configuration: DatabaseConfiguration) {}

  /**
   * Counts this process until it is closed.
   *
   * @param onCounted called once with the number of processes, including this one, that share its most common activity
   */
  join(activities: readonly string[], onCounted: (processes: number) => void): CountedProcess {
    let isCounted = false;
    return new DedicatedConnection(this.configuration, {
      name: 'presence',
      onConnected: async (client) => {
        const keys = activities.map((activity) => advisoryLockKey(`process: ${activity}`));
        // Lock first: of two processes that start at the same moment, at least one must see the other.
        for (const key of keys) await client.query('SELECT pg_advisory_lock_shared($1)', [key]);
        if (isCounted) return;
        let processes = 0;
        for (const key of keys) processes = Math.max(processes, await holdersOf(client, key));
        isCounted = true;
        onCounted(processes);
      },
    });
  }
}

async function holdersOf(client: pg.Client, key: string): Promise<number> {
  const { rows } = await client.query<{ holders: number }>(HOLDERS, [key]);
  return rows[0]?.holders ?? 0;
}
