import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ModuleRef } from '@nestjs/core';
import { Clock, MINUTE } from '../../src/infrastructure/time/index.js';
import { ExternalUsersModule } from '../../src/modules/external-users/external-users.module.js';
import { UserErasuresService } from '../../src/modules/external-users/user-erasures.service.js';
import { moveClock } from './clock.js';
import type { TestApp } from './test-app.js';

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
export function jobOfAnotherProcess(service: TestApp): Promise<UserErasuresService> {
  return service.app.select(ExternalUsersModule).get(ModuleRef, { strict: true }).create(UserErasuresService);
}

/** Runs the job, and runs it again when everything that was in progress has ended. */
export async function finishErasures(service: TestApp): Promise<void> {
  const job = service.app.get(UserErasuresService);
  await job.run();
  const moved = service.app.get(Clock).milliseconds() - Date.now();
  using _later = moveClock(service, moved + MINUTE + 1);
  await job.run();
}
