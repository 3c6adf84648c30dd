import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { NestFactory } from '@nestjs/core';
import pg from 'pg';
import { AppModule } from '../../dist/src/app.module.js';
import { loadConfiguration } from '../../dist/src/infrastructure/config/index.js';
import { WebhookPublisher } from '../../dist/src/modules/webhooks/index.js';
import { freePort, start } from './processes.mjs';

const WORKER = new URL('../../dist/src/worker.js', import.meta.url).pathname;
const CLI = 'dist/src/cli/main.js';
const RECEIVER = new URL('../baselines/webhook-receiver.mjs', import.meta.url).pathname;

/**
 * Prepares a database with the schema, receivers in separate processes, and a publisher in this process.
 *
 * @param options.publishes false if the database must keep the schema of another build, with which the publisher cannot work
 */
export async function openWebhooks(bench, { receivers = 1, environment = {}, publishes = true } = {}) {
  const service = await bench.service({ BACKGROUND_WORK: 'off' });
  const { databaseUrl, credentials, dataDirectory } = service;
  await service.stop();
  const settings = {
    ...service.settings,
    WEBHOOK_TARGETS: 'any',
    LOG_LEVEL: 'error',
    ...environment,
  };
  // A pool opens new connections after the server restarts.
  const database = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  database.on('error', () => undefined);
  const children = [];
  const ports = [];
  for (let index = 0; index < receivers; index += 1) {
    const port = await freePort();
    const journal = join(dataDirectory, 'arrivals');
    mkdirSync(journal, { recursive: true });
    children.push(
      await start(RECEIVER, {
        environment: { PORT: String(port), JOURNAL: join(journal, `${port}.txt`) },
        ready: 'ready',
      }),
    );
    ports.push(port);
  }
  const app =
    publishes &&
    (await NestFactory.createApplicationContext(
      AppModule.register(loadConfiguration(settings), { backgroundWork: false }),
      { logger: ['error'] },
    ));
  const publisher = app && app.get(WebhookPublisher);
  return {
    database,
    ports,
    settings,
    client: { clientId: credentials.development.client_id, environment: 'development' },
    secret: credentials.development.secret,
    credentials,
    /** Inserts an endpoint directly, because some benchmarks need more than an organization may have. */
    async addEndpoint(clientId, url) {
      const id = randomUUID();
      await database.query(
        'INSERT INTO webhook_endpoint (id, client_id, url, created_at) VALUES ($1, $2, $3, now())',
        [id, clientId, url],
      );
      return id;
    },
    query: (sql, parameters) => database.query(sql, parameters),
    /** Returns a provider of the service that runs in this process. */
    get: (token) => app.get(token),
    publish: (event, client) => publisher.publish(client, event),
    async worker(extra = {}) {
      const child = await start(WORKER, {
        environment: { ...settings, ...extra },
        ready: 'The background work is running',
      });
      children.push(child);
      return child;
    },
    /** Reads the arrivals at a receiver from lines of the form `<event id> <milliseconds since the epoch> <path>`. */
    arrivals(port) {
      const file = join(dataDirectory, 'arrivals', `${port}.txt`);
      if (!existsSync(file)) return [];
      return readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => {
          const [eventId, at, path] = line.split(' ');
          return { eventId, at: Number(at), path };
        });
    },
    async close() {
      if (app) await app.close();
      for (const child of children) await child.stop();
      await database.end();
    },
  };
}

/** Creates a service token that can publish events. @param root the checkout of the build, if it is another one */
export async function createServiceToken(settings, root = fileURLToPath(new URL('../..', import.meta.url))) {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(root, CLI), 'service-token', 'create', '--name', 'bench', '--scope', 'events:publish'],
    { env: { ...process.env, ...settings } },
  );
  return JSON.parse(stdout).token;
}

export const EXAMPLE_EVENT = {
  event: 'CARD_UPDATED',
  sessionId: 'fb5aa994-ed1c-4c3e-b29a-b2a53222e584',
  taskId: 25_605,
  externalUserId: 'user-8f3a',
  merchant: { id: 16, name: 'Netflix' },
  data: { card_id: '81n9al10a0ayn13' },
};
