import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ModuleRef } from '@nestjs/core';
import { Clock, MINUTE } from '../../../src/infrastructure/time/index.js';
import { ExternalUsersModule } from '../../../src/modules/external-users/external-users.module.js';
import { UserErasuresJob } from '../../../src/modules/external-users/user-erasures.job.js';
import { moveClock } from '../clock.js';
import type { TestApp, TestResponse } from '../test-app.js';

export interface Erasure {
  readonly status: string;
  readonly erased: number;
  readonly requested_at: string;
  readonly finished_at: string | null;
}

/** Entries of the request log that `addEntriesOf` adds. */
export const MANY = 30_000;

export const newUser = (): string => `person-${randomBytes(8).toString('hex')}`;
export const pathOf = (user: string): string => `/external-users/${encodeURIComponent(user)}`;

/** Returns functions that erase users of a service, and show what is left. */
export function erasuresOf(service: TestApp) {
  return {
    erase: (user: string, as = service.development): Promise<TestResponse<Erasure>> =>
      service.request<Erasure>(pathOf(user), { method: 'DELETE', as }),
    progressOf: (user: string, as = service.development): Promise<TestResponse<Erasure>> =>
      service.request<Erasure>(`${pathOf(user)}/erasure`, { as }),
    tablesOf: (user: string): Promise<string[]> => placesOf(service, user),
    async countOf(table: string, user: string): Promise<number> {
      const [row] = await service.database.query<{ count: number }>(
        `SELECT count(*)::integer AS count FROM ${table} WHERE external_user_id = $1`,
        [user],
      );
      return row?.count ?? 0;
    },

    /** Adds many entries and events of the user. All entries are from yesterday, because a batch ends with its day. */
    async addEntriesOf(user: string): Promise<void> {
      const values = [service.development.clientId, user, MANY];
      await service.database.query(
        `INSERT INTO request_log (client_id, environment, created_at, type, method, path, status_code, latency_ms, external_user_id)
         SELECT $1, 'development', date_trunc('day', now(), 'UTC') - n * interval '1 second', 'request', 'POST', '/events', 200, 1,
                $2::text
           FROM generate_series(1, $3::integer) n`,
        values,
      );
      await service.database.query(
        `INSERT INTO webhook_event (id, created_at, client_id, environment, event, external_user_id, body)
         SELECT gen_random_uuid(), now() - n * interval '1 second', $1, 'development', 'CARD_UPDATED', $2::text,
                convert_to('{"external_user_id":"' || $2::text || '"}', 'UTF8')
           FROM generate_series(1, $3::integer / 10) n`,
        values,
      );
    },
  };
}

/** Returns the tables of the database, including partitions, the statistics, and the files that contain the text anywhere. */
export async function placesOf(service: TestApp, text: string): Promise<string[]> {
  const tables = await service.database.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'",
  );
  // The text of a row shows bytes as hexadecimal digits.
  const patterns = [text, Buffer.from(text).toString('hex')].map((each) => `%${each}%`);
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await service.database.query(
      `SELECT FROM ${name} AS entry WHERE entry::text LIKE ANY ($1) LIMIT 1`,
      [patterns],
    );
    if (rows.length > 0) found.push(name.replace(/_(default|\d{8})$/, ''));
  }
  const statistics = await service.database.query<{ place: string }>(
    `SELECT DISTINCT tablename || '.' || attname AS place FROM pg_stats
      WHERE most_common_vals::text LIKE ANY ($1) OR histogram_bounds::text LIKE ANY ($1)
         OR most_common_elems::text LIKE ANY ($1)`,
    [patterns],
  );
  found.push(...statistics.map(({ place }) => `statistics of ${place}`));
  const files = readdirSync(service.dataDirectory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(service.dataDirectory, name))
    .filter((path) => statSync(path).isFile() && readFileSync(path).includes(text));
  return [...new Set(found), ...files].toSorted();
}

/** Returns the job as another process has it. */
export function jobOfAnotherProcess(service: TestApp): Promise<UserErasuresJob> {
  return service.app.select(ExternalUsersModule).get(ModuleRef, { strict: true }).create(UserErasuresJob);
}

/** Runs the job, and runs it again when everything that was in progress has ended. */
export async function finishErasures(service: TestApp): Promise<void> {
  const job = service.app.get(UserErasuresJob);
  await job.run();
  const moved = service.app.get(Clock).milliseconds() - Date.now();
  using _later = moveClock(service, moved + MINUTE + 1);
  await job.run();
}
