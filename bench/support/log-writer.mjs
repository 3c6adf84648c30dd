/** Writes request log entries of a number of clients for some seconds, and prints the entries per second. */
import { randomUUID } from 'node:crypto';
import { NestFactory } from '@nestjs/core';
import { AppModule } from '../../dist/src/app.module.js';
import { loadConfiguration } from '../../dist/src/infrastructure/config/index.js';
import { RequestLogWriter } from '../../dist/src/modules/request-logs/writing/request-log-writer.js';
import { entriesOf } from './log-entries.mjs';

const { CLIENTS = '1', SECONDS = '4', ...environment } = process.env;
/** Concurrent writes: the rows of two running statements and of the next one. */
const CONCURRENT_WRITES = 3_000;

const app = await NestFactory.createApplicationContext(
  AppModule.register(loadConfiguration(environment), { backgroundWork: false }),
  { logger: ['error'] },
);
const writer = app.get(RequestLogWriter);
const entry = entriesOf(Array.from({ length: Number(CLIENTS) }, randomUUID));
await measure(1);
console.log(`rate ${await measure(Number(SECONDS))}`);
await app.close();

async function measure(seconds) {
  const began = performance.now();
  const until = began + seconds * 1_000;
  let done = 0;
  await Promise.all(
    Array.from({ length: CONCURRENT_WRITES }, async () => {
      while (performance.now() < until) {
        await writer.write(entry());
        done += 1;
      }
    }),
  );
  return Math.round((done * 1_000) / (performance.now() - began));
}
