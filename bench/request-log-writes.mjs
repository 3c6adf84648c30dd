/** Measures request log entries written by the service, compared with the plain statement and the same rows. */
import { setTimeout as pause } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import pg from 'pg';
import { AppModule } from '../dist/src/app.module.js';
import { loadConfiguration } from '../dist/src/infrastructure/config/index.js';
import { RequestLogWriter } from '../dist/src/modules/request-logs/writing/request-log-writer.js';
import { entriesOf } from './support/log-entries.mjs';
import { reportTable } from './support/report.mjs';
import { openWorkbench } from './support/workbench.mjs';

const ROUNDS = Number(process.env.ROUNDS ?? 9);
const SECONDS = Number(process.env.SECONDS ?? 4);
/** Concurrent writes: the rows of two running statements and of the next one. */
const CONCURRENT_WRITES = 3_000;
const ROWS = 1_000;
/** The columns in the order of the statement. Columns that only webhooks use are null. */
const COLUMNS = (
  'clientId environment createdAt type method path url event statusCode latencyMilliseconds sessionId taskId ' +
  'externalUserId endpointId eventId attempt reason dns connect tls firstByte'
).split(' ');

const bench = await openWorkbench();
try {
  const service = await bench.service({ BACKGROUND_WORK: 'off' });
  const { databaseUrl, settings, credentials } = service;
  await service.stop();
  const app = await NestFactory.createApplicationContext(
    AppModule.register(loadConfiguration(settings), {
      backgroundWork: false,
    }),
    { logger: ['error'] },
  );
  const writer = app.get(RequestLogWriter);
  const database = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  const entry = entriesOf([credentials.production.client_id]);

  const product = () => rate(CONCURRENT_WRITES, 1, () => writer.write(entry()));
  const comparison = () =>
    rate(2, ROWS, () => {
      const entries = Array.from({ length: ROWS }, entry);
      return database.query(
        `INSERT INTO request_log (client_id, environment, created_at, type, method, path, url, event, status_code,
                                  latency_ms, session_id, task_id, external_user_id, webhook_endpoint_id,
                                  webhook_event_id, attempt, reason, dns_ms, connect_ms, tls_ms, first_byte_ms)
         SELECT * FROM unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[],
                              $7::text[], $8::text[], $9::smallint[], $10::integer[], $11::uuid[], $12::bigint[],
                              $13::text[], $14::uuid[], $15::uuid[], $16::smallint[], $17::text[], $18::integer[],
                              $19::integer[], $20::integer[], $21::integer[])`,
        COLUMNS.map((column) => entries.map((each) => each[column])),
      );
    });
  await product();
  await comparison();
  const runs = { product: [], comparison: [] };
  for (let round = 1; round <= ROUNDS; round += 1) {
    runs.comparison.push(await comparison());
    runs.product.push(await product());
    console.error(
      `round ${round}: ${runs.product.at(-1).toFixed(0)}/s, comparison ${runs.comparison.at(-1).toFixed(0)}/s`,
    );
  }
  const median = (values) => values.toSorted((left, right) => left - right)[values.length >> 1];
  const [ours, theirs] = [median(runs.product), median(runs.comparison)];
  reportTable('request-log-writes', {
    title:
      'Request log entries, each awaited until its commit, compared with plain `unnest` INSERTs of 1,000 rows on two connections',
    goal: 'ratio at least 0.8',
    columns: ['median', 'product', 'comparison', 'ratio'],
    rows: [['entries', `${ours.toFixed(0)} /s`, `${theirs.toFixed(0)} /s`, (ours / theirs).toFixed(2)]],
  });
  await database.end();
  await app.close();
} finally {
  await bench.close();
}

/** Returns the rows per second when several workers repeat the work concurrently. */
async function rate(workers, rows, work) {
  let done = 0;
  const until = performance.now() + SECONDS * 1_000;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: workers }, async () => {
      while (performance.now() < until) {
        await work();
        done += rows;
      }
    }),
  );
  const seconds = (performance.now() - began) / 1_000;
  await pause(200);
  return done / seconds;
}
