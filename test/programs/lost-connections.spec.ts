import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { migrate } from '../../src/infrastructure/database/index.js';
import { SECOND } from '../../src/infrastructure/time/index.js';
import { startDatabaseAddress, type DatabaseAddress } from '../support/database/database-address.js';
import { eventually } from '../support/eventually.js';
import { whileLogIsLocked } from '../support/database/locked-log.js';
import { serveMetrics, type Scraper } from '../support/logs/metrics.js';
import { CREATE_MCP_TOKEN, SEARCH_DETECTED_ACCOUNTS } from '../support/documents/operations.js';
import { issueServiceToken } from '../support/logins/service-tokens.js';
import { startTestApp, type Login, type TestApp, type TestResponse } from '../support/test-app.js';
import { startReplicatedPostgres, type PostgresServer } from '../support/database/replicated-postgres.js';
import { addEndpoint, startReceiver, type WebhookReceiver } from '../support/webhooks/webhook-receiver.js';

const TIMEOUT = 120_000;

let address: DatabaseAddress;
let receiver: WebhookReceiver;
let service: TestApp;
let owner: Login;
let token: string;
let metrics: Scraper;
/** Runs a query of the test on the server that has the data, not by way of the address. */
let query: TestApp['database']['query'];

/** Starts the service, with an address between it and its database, and all that the load needs. */
async function start(databaseUrl?: string): Promise<void> {
  receiver = await startReceiver();
  service = await startTestApp(
    {
      WEBHOOK_TARGETS: 'any',
      DATABASE_CONNECT_TIMEOUT_MS: '2000',
      DASHBOARD_REQUESTS_PER_MINUTE: '1000000',
      MCP_TOKEN_REQUESTS_PER_MINUTE: '1000000',
      METRICS_PORT: '0',
    },
    {
      backgroundWork: true,
      addressOf: async (url) => (address = await startDatabaseAddress(databaseUrl ?? url)).url,
    },
  );
  metrics = await serveMetrics(service);
  owner = await service.login('owner');
  ({ token } = await issueServiceToken(service, ['events:publish']));
  await addEndpoint({ database: { ...service.database, query } }, service.development.clientId, receiver.url);
  for (const [kind, send] of Object.entries(KINDS))
    expect([kind, (await send('first')).status]).toEqual([kind, SUCCESS[kind]]);
}

async function close(): Promise<void> {
  await service.close();
  await address.close();
  await receiver.close();
}

/** Sends a request of the load for a user of its own. */
type Send = (user: string) => Promise<TestResponse>;

const KINDS: Readonly<Record<string, Send>> = {
  token: (user) =>
    service.request(CREATE_MCP_TOKEN.path, {
      body: { ...CREATE_MCP_TOKEN.body, external_user_id: user },
      as: service.development,
    }),
  search: (user) =>
    service.request(SEARCH_DETECTED_ACCOUNTS.path, {
      body: { ...SEARCH_DETECTED_ACCOUNTS.body, external_user_id: user },
      as: service.development,
    }),
  event: (user) =>
    service.request('/events', {
      body: {
        event: 'ACCOUNT_LOGIN_REQUIRED',
        client_id: service.development.clientId,
        external_user_id: user,
        merchant_id: 16,
      },
      token,
    }),
  session: () =>
    service.request('/session/open', { body: { session_id: randomUUID(), metadata: { order: '1' } } }),
  page: () => service.request('/request-logs?environment=development&limit=5', { login: owner }),
};
const PAGE_EVERY = 10;
const UNAVAILABLE = 503;
/** The status of each kind while all is well. */
const SUCCESS: Readonly<Record<string, number>> = {
  token: 200,
  search: 200,
  event: 200,
  session: 404,
  page: 200,
};

interface Sent {
  readonly kind: string;
  readonly user: string;
  readonly response: TestResponse;
}

/** Sends requests of all kinds until the work is done. */
async function underLoad(name: string, work: () => Promise<void>): Promise<Sent[]> {
  const sent: Promise<Sent>[] = [];
  let isRunning = true;
  const load = (async () => {
    for (let number = 0; isRunning; number += 1) {
      for (const [kind, send] of Object.entries(KINDS)) {
        // An organization has only a few queries of the log at a time.
        if (kind === 'page' && number % PAGE_EVERY !== 0) continue;
        const user = `${name}-${kind}-${number}`;
        sent.push(send(user).then((response) => ({ kind, user, response })));
      }
      await pause(100);
    }
  })();
  try {
    await work();
  } finally {
    isRunning = false;
    await load;
  }
  return Promise.all(sent);
}

/** Waits until a request of each kind succeeds. */
async function everythingWorks(): Promise<void> {
  for (const [kind, send] of Object.entries(KINDS))
    await eventually(`${kind} works`, async () => (await send('probe')).status === SUCCESS[kind]);
  await eventually('it is ready', async () => (await service.request('/readyz')).status === 200);
}

/** Checks that requests succeeded, or failed as they may, and that nothing that was accepted is lost. */
async function nothingIsLost(sent: readonly Sent[]): Promise<void> {
  const failed = sent.filter(({ kind, response }) => response.status !== SUCCESS[kind]);
  expect(failed.map(({ kind, response }) => [kind, response.status])).toEqual(
    failed.map(({ kind }) => [kind, UNAVAILABLE]),
  );
  for (const { response } of failed) expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  const accepted = sent.filter(({ kind, response }) => kind === 'event' && response.status === 200);
  expect(accepted.length).toBeGreaterThan(0);
  await eventually(
    'all accepted events have arrived',
    () => {
      const arrived = new Set(receiver.arrivals.map(({ event }) => event['external_user_id']));
      return accepted.every(({ user }) => arrived.has(user));
    },
    60 * SECOND,
  );
  const deliveries = receiver.arrivals.map(({ headers }) => headers['webhook-id']);
  expect(deliveries).toHaveLength(new Set(deliveries).size);
  const recorded = sent.filter(({ kind }) => kind === 'token' || kind === 'search');
  const unrecorded = async (): Promise<Sent[]> => {
    const rows = await query<{ user: string | null }>(
      `SELECT external_user_id AS "user" FROM request_log
        WHERE type = 'request' AND (external_user_id = ANY ($1) OR external_user_id IS NULL AND status_code = 503)`,
      [recorded.map(({ user }) => user)],
    );
    const users = new Set(rows.map(({ user }) => user));
    // The log does not name the user of a request whose credentials could not be checked, because its body was not read.
    const nameless = rows.filter(({ user }) => user === null).length;
    return recorded.filter(({ user }) => !users.has(user)).slice(nameless);
  };
  await eventually('all requests are in the log', async () => (await unrecorded()).length === 0).catch(
    async () => expect((await unrecorded()).map(({ user, response }) => [user, response.status])).toEqual([]),
  );
}

describe('Connections to the database', () => {
  // ES modules have no global `jest`.
  import.meta.jest.setTimeout(TIMEOUT);
  beforeAll(() => {
    query = (...parameters) => service.database.query(...parameters);
    return start();
  }, TIMEOUT);
  afterAll(close, TIMEOUT);
  beforeEach(everythingWorks);

  it('are replaced when all established ones fall silent, twice in a row, and nothing is lost', async () => {
    const sent = await underLoad('silence', async () => {
      for (let round = 0; round < 2; round += 1) {
        await pause(SECOND);
        address.silence();
        await pause(SECOND);
        await everythingWorks();
      }
    });
    await nothingIsLost(sent);
  });

  it('are replaced when they fall silent at rest', async () => {
    await pause(SECOND);
    address.silence();
    const before = address.opened;
    const { lastPollAge, listening } = {
      lastPollAge: 'mcs_webhook_worker_last_poll_age_seconds',
      listening: 2,
    };
    await eventually(
      'the worker polls again',
      async () => address.opened >= before + listening && ((await metrics.value(lastPollAge)) ?? 9) < 2,
      30 * SECOND,
    );
    await everythingWorks();
    // Otherwise, the silent sessions would fill max_connections of the server.
    const [setting] = await service.app.get(DataSource).query<object[]>('SHOW idle_session_timeout');
    expect(setting).toEqual({ idle_session_timeout: '30s' });
  });

  it('are given up while the server is paused, and used again afterwards', async () => {
    const sent = await underLoad('paused', async () => {
      await pause(SECOND);
      const resume = address.pause();
      await eventually('it is not ready', async () => (await service.request('/readyz')).status === 503);
      await eventually(
        'requests fail',
        async () => (await KINDS['token']?.('probe'))?.status === UNAVAILABLE,
      );
      await pause(10 * SECOND);
      resume();
      await everythingWorks();
    });
    await nothingIsLost(sent);
    expect(sent.some(({ response }) => response.status === UNAVAILABLE)).toBe(true);
  });

  it('are kept while the server runs a slow statement', async () => {
    let slow: Promise<TestResponse> | undefined;
    await whileLogIsLocked(
      service.database,
      async () => {
        slow = KINDS['token']?.('slow');
        await eventually(
          'the oldest request has waited for seconds',
          async () => ((await metrics.value('mcs_http_oldest_request_age_seconds')) ?? 0) > 5,
          30 * SECOND,
        );
      },
      'mcp_token IN ACCESS EXCLUSIVE MODE',
    );
    expect((await slow)?.status).toBe(200);
  });
});

describe('A database that is neither up nor down', () => {
  import.meta.jest.setTimeout(TIMEOUT);
  let primary: PostgresServer;
  let standby: PostgresServer;
  const queryOf =
    (server: PostgresServer): typeof query =>
    (sql, values) =>
      server.query(sql, values);

  beforeAll(async () => {
    ({ primary, standby } = await startReplicatedPostgres('standby'));
    await migrate(primary.url);
    query = queryOf(primary);
    await primary.query(`CREATE ROLE service SUPERUSER LOGIN PASSWORD 'service'`);
    await start(Object.assign(new URL(primary.url), { username: 'service', password: 'service' }).href);
  }, TIMEOUT);
  afterAll(async () => {
    await close();
    await Promise.all([primary.stop(), standby.stop()]);
  }, TIMEOUT);
  beforeEach(everythingWorks);

  const isNotReady = (): Promise<boolean> =>
    eventually('it is not ready', async () => (await service.request('/readyz')).status === UNAVAILABLE);

  /** Makes the database refuse the work of the service for some seconds, under load. */
  async function whileRefused(name: string, begin: string, end: string): Promise<void> {
    const sent = await underLoad(name, async () => {
      await pause(SECOND);
      await query(begin);
      await isNotReady();
      await eventually('writes fail', async () => (await KINDS['token']?.('probe'))?.status === UNAVAILABLE);
      await pause(3 * SECOND);
      await query(end);
      await everythingWorks();
    });
    await nothingIsLost(sent);
  }

  it('keeps what it cannot write while the role has another password', async () => {
    await whileRefused(
      'password',
      `ALTER ROLE service PASSWORD 'rotated';
       SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'service'`,
      `ALTER ROLE service PASSWORD 'service'`,
    );
  });

  it('keeps what it cannot write while the server is read-only, and follows the address to the promoted replica', async () => {
    const sent = await underLoad('failover', async () => {
      await pause(SECOND);
      await primary.query('ALTER SYSTEM SET default_transaction_read_only = on');
      await primary.query('SELECT pg_reload_conf()');
      await isNotReady();
      const [written] = await primary.query<{ position: string }>('SELECT pg_current_wal_lsn() AS position');
      await eventually('the replica has everything', async () => {
        const [replayed] = await standby.query<{ isCurrent: boolean }>(
          'SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS "isCurrent"',
          [written?.position],
        );
        return replayed?.isCurrent;
      });
      await standby.query('SELECT pg_promote()');
      // The established connections lead to the old primary, which goes on to respond.
      address.moveTo(standby.url);
      query = queryOf(standby);
      await everythingWorks();
    });
    await nothingIsLost(sent);
  });
});
