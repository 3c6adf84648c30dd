import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { SECOND } from '../../src/infrastructure/time/index.js';
import { createApplication } from '../../src/application.js';
import { loadConfiguration } from '../../src/infrastructure/config/index.js';
import {
  DatabaseConfiguration,
  inspectReplica,
  migrate,
  QueryTimeout,
  ReadPools,
  type ReadPool,
} from '../../src/infrastructure/database/index.js';
import { RequestLogRepository, type RequestLogPosition } from '../../src/modules/request-logs/index.js';
import { cloneDatabase } from '../support/database/database.js';
import { eventually } from '../support/eventually.js';
import { logLines } from '../support/logs/log-lines.js';
import { serveMetrics, type Scraper } from '../support/logs/metrics.js';
import { TEST_AUTHORITY } from '../support/webhooks/receiver-certificates.js';
import { startReplicatedPostgres, type PostgresServer } from '../support/database/replicated-postgres.js';
import { fillRequestLog, loggedAttempt, loggedRequest } from '../support/logs/request-log-entries.js';
import { startTestApp, type Login, type TestApp } from '../support/test-app.js';

const TIMEOUT = 60_000;
/** Seconds: long enough that no test exceeds it by accident. */
const MAX_LAG = 30;
const UNUSED = 'The read replica is not used, and its queries use the primary.';
const USED_AGAIN = 'The read replica is used again.';

const key = (): string => randomBytes(32).toString('base64');
/** The keys of the database of the primary. */
const KEYS = { SECRET_PEPPER: key(), KEY_ENCRYPTION_KEY: key() };

let primary: PostgresServer;
let replica: PostgresServer;
/** A replica that one test promotes: it cannot become a replica again. */
let promoted: PostgresServer;
let service: TestApp;
let metrics: Scraper;
let login: Login;
/** A pool whose queries may lag. */
let pool: ReadPool;

beforeAll(async () => {
  ({ primary, replica, promoted } = await startReplicatedPostgres('replica', 'promoted'));
  await migrate(primary.url);
  await primary.query(`CREATE ROLE reader LOGIN PASSWORD 'reader'; GRANT pg_read_all_data TO reader`);
  const readUrl = Object.assign(new URL(replica.url), { username: 'reader', password: 'reader' }).href;
  service = await startTestApp({
    ...KEYS,
    DATABASE_URL: primary.url,
    DATABASE_READ_URL: readUrl,
    DATABASE_READ_MAX_LAG_SECONDS: String(MAX_LAG),
    METRICS_PORT: '0',
  });
  metrics = await serveMetrics(service);
  login = await service.login();
  pool = openPool();
  await replicaIsUsed();
}, TIMEOUT);
afterAll(async () => {
  await service.close();
  await Promise.all([replica.stop(), promoted.stop()]);
  await primary.stop();
}, TIMEOUT);

function openPool(timeoutMilliseconds = 10 * SECOND, name = 'test'): ReadPool {
  return service.app.get(ReadPools).open(name, { connections: 1, timeoutMilliseconds, mayLag: true });
}

async function usesReplica(): Promise<boolean> {
  const [row] = await pool.query<{ isReplica: boolean }>('SELECT pg_is_in_recovery() AS "isReplica"');
  return row?.isReplica ?? false;
}

const replicaIsUsed = (): Promise<boolean> => eventually('queries use the replica', usesReplica);

/** Makes the replica receive changes without replaying them while the work runs. */
async function whilePaused<Result>(work: () => Promise<Result>): Promise<Result> {
  // The age of the last replayed change is the lag as soon as the replica has something to replay.
  await primary.query('SELECT pg_current_xact_id()');
  await eventually('the replica has replayed a new change', async () => {
    const [row] = await replica.query<{ isNew: boolean }>(
      `SELECT now() - pg_last_xact_replay_timestamp() < interval '3 s' AS "isNew"`,
    );
    return row?.isNew;
  });
  await replica.query('SELECT pg_wal_replay_pause()');
  await eventually('the replay is paused', async () => {
    const [row] = await replica.query<{ state: string }>('SELECT pg_get_wal_replay_pause_state() AS state');
    return row?.state === 'paused';
  });
  try {
    return await work();
  } finally {
    await replica.query('SELECT pg_wal_replay_resume()');
    await replicaIsUsed();
  }
}

const client = () => ({ clientId: service.development.clientId, environment: 'development' as const });
const ago = (seconds: number): Date => new Date(Date.now() - seconds * SECOND);
let users = 0;
const newUser = (): string => `user-${(users += 1)}`;

async function addEntry(user: string, createdAt = ago(0)): Promise<void> {
  await fillRequestLog(service, [loggedRequest(client(), { createdAt, externalUserId: user })]);
}

async function shownEntries(user: string): Promise<number> {
  const path = `/request-logs?environment=development&external_user_id=${user}`;
  const { status, body } = await service.request<{ data: unknown[] }>(path, { login });
  expect(status).toBe(200);
  return body.data.length;
}

/** Reads entries of the log as the page after a position does. */
async function entriesBefore(position: RequestLogPosition | undefined, user: string): Promise<number> {
  const selection = { client: client(), period: { start: ago(3_600), end: ago(-3_600) } };
  const found = await service.app
    .get(RequestLogRepository)
    .newest({ ...selection, filter: { external_user_id: user } }, { before: position, limit: 10 });
  return found.length;
}

const messages = (): string[] => logLines().map((line) => String(line['message']));
const countOf = (text: string): number => messages().filter((message) => message.includes(text)).length;

/** Returns the name of the state whose metric is 1. */
async function state(): Promise<string | undefined> {
  const samples = await metrics.samples();
  return samples.find(({ name, value }) => name === 'mcs_database_replica_state' && value === 1)?.labels[
    'state'
  ];
}

describe('DATABASE_READ_URL', () => {
  it('makes the overview and later pages of the request log read the replica', async () => {
    const endpoint = { environment: 'development', url: 'https://hooks.example.com/' };
    const owner = await service.login('owner');
    await service.request('/webhook-endpoints/create', { body: endpoint, login: owner });
    for (const path of ['', '/request-logs', '/events', '/webhook-endpoints']) {
      const response = await service.request(`/dashboard/development${path}`, { login });
      expect([path, response.status]).toEqual([path, 200]);
    }
    await entriesBefore({ datetime: ago(120), id: 0 }, newUser());
    const rows = await replica.query<{ name: string }>(
      `SELECT DISTINCT replace(application_name, 'merchant-connectivity-service ', '') AS name FROM pg_stat_activity
        WHERE application_name LIKE 'merchant-connectivity-service%' ORDER BY 1`,
    );
    expect(rows.map(({ name }) => name)).toEqual([
      'replica-check',
      'request-log-overview-replica',
      'request-log-trends-replica',
      'request-logs-replica',
      'test-replica',
    ]);
    expect(await metrics.value('mcs_database_pool_connections', { pool: 'request-logs-replica' })).toBe(1);
    expect(await state()).toBe('current');
    expect(await metrics.value('mcs_database_replica_lag_seconds')).toBeLessThan(MAX_LAG);
  });

  it('reads the newest page and single entries from the primary, however far the replica is behind', async () => {
    const user = newUser();
    await whilePaused(async () => {
      await addEntry(user);
      expect(await shownEntries(user)).toBe(1);
      const [entry] = await primary.query<{ id: string }>(
        'SELECT id FROM request_log WHERE external_user_id = $1',
        [user],
      );
      expect((await service.request(`/request-logs/${entry?.id}`, { login })).status).toBe(200);
      expect(await usesReplica()).toBe(true);
    });
  });

  it('checks the lag once for all queries that arrive at the same time', async () => {
    const statements = import.meta.jest.spyOn(pg.Client.prototype, 'query');
    try {
      await Promise.all(Array.from({ length: 50 }, () => pool.query('SELECT')));
      const checks = statements.mock.calls.filter(([text]) => String(text).includes('pg_stat_wal_receiver'));
      expect(checks.length).toBeLessThan(20);
    } finally {
      statements.mockRestore();
    }
  });

  it('does not go back to the replica after a statement that used the primary', async () => {
    const options = { isFresh: true };
    const statement = 'SELECT pg_is_in_recovery() AS "isReplica"';
    const shared = {};
    await whilePaused(async () => {
      expect(await pool.query(statement, [], options)).toEqual([{ isReplica: false }]);
      expect(await pool.query(statement, [], shared)).toEqual([{ isReplica: true }]);
    });
    const configuration = service.app.get(DatabaseConfiguration);
    configuration.maxReadLagSeconds = -1;
    await eventually('the primary is read', async () => !(await usesReplica()));
    expect(await pool.query(statement, [], shared)).toEqual([{ isReplica: false }]);
    configuration.maxReadLagSeconds = MAX_LAG;
    await replicaIsUsed();
    expect(await pool.query(statement, [], shared)).toEqual([{ isReplica: false }]);
  });

  it('reads a page after a recent position from the primary, so that no page skips an entry', async () => {
    const user = newUser();
    await whilePaused(async () => {
      await addEntry(user, ago(5));
      await addEntry(user, ago(120));
      expect(await entriesBefore(undefined, user)).toBe(2);
      expect(await entriesBefore({ datetime: ago(MAX_LAG + 5), id: 0 }, user)).toBe(1);
      expect(await entriesBefore({ datetime: ago(0), id: 0 }, user)).toBe(2);
      expect(await entriesBefore({ datetime: ago(MAX_LAG + 20), id: 0 }, user)).toBe(0);
    });
  });

  it('leaves the attempts that a recovery looks for to the primary', async () => {
    const endpointId = crypto.randomUUID();
    await whilePaused(async () => {
      const attempt = loggedAttempt(client(), { createdAt: ago(5) });
      await fillRequestLog(service, [
        { ...attempt, ...(attempt.attempt && { attempt: { ...attempt.attempt, endpointId } }) },
      ]);
      const start = { createdAt: ago(60), id: '0' };
      expect(
        await service.app
          .get(RequestLogRepository)
          .attempts({ endpointId, clientId: client().clientId }, start),
      ).toHaveLength(1);
      expect(await usesReplica()).toBe(true);
    });
  });

  it('uses the primary while the replica is too far behind', async () => {
    const configuration = service.app.get(DatabaseConfiguration);
    const [left, returned] = [countOf(UNUSED), countOf(USED_AGAIN)];
    configuration.maxReadLagSeconds = 0.5;
    await whilePaused(async () => {
      await addEntry(newUser());
      await eventually('the primary is read', async () => !(await usesReplica()));
      expect(await state()).toBe('behind');
      expect(await metrics.value('mcs_database_replica_lag_seconds')).toBeGreaterThan(0.5);
    });
    expect([countOf(UNUSED), countOf(USED_AGAIN)]).toEqual([left + 1, returned + 1]);
    expect(messages()).toContainEqual(
      expect.stringMatching(`^${UNUSED} It is \\d+ s behind \\(DATABASE_READ_MAX_LAG_SECONDS: 0\\.5\\)\\.$`),
    );
    configuration.maxReadLagSeconds = MAX_LAG;
  });

  it('runs a query again on the primary if the replica cancels it to replay a change', async () => {
    await primary.query('CREATE TABLE changing ()');
    await eventually('the table is replicated', async () => {
      const [row] = await replica.query<{ exists: boolean }>(
        `SELECT to_regclass('changing') IS NOT NULL AS "exists"`,
      );
      return row?.exists;
    });
    const retries = await retriesOf('test');
    const result = pool.query(
      'SELECT pg_is_in_recovery() AS "isReplica", pg_sleep(0.5) FROM (SELECT count(*) FROM changing) entry',
    );
    await replicaRuns('FROM changing');
    await primary.query('ALTER TABLE changing ADD COLUMN value int');
    expect(await result).toEqual([expect.objectContaining({ isReplica: false })]);
    expect(await retriesOf('test')).toBe(retries + 1);
    await replicaIsUsed();
  });

  it('does not run a query again that is too slow', async () => {
    const retries = await retriesOf('test');
    await expect(openPool(500).query('SELECT pg_sleep(5)')).rejects.toThrow(QueryTimeout);
    expect(await retriesOf('test')).toBe(retries);
  });

  it('runs a query again on the primary if the replica does not respond', async () => {
    const hanging = openPool(SECOND / 2, 'hanging');
    const query = 'SELECT pg_is_in_recovery() AS "isReplica", pg_backend_pid() AS pid';
    const [session] = await hanging.query<{ isReplica: boolean; pid: number }>(query);
    if (!session?.isReplica) throw new Error('The query did not use the replica');
    process.kill(session.pid, 'SIGSTOP');
    try {
      expect(await hanging.query(query)).toEqual([expect.objectContaining({ isReplica: false })]);
    } finally {
      process.kill(session.pid, 'SIGCONT');
    }
    await replicaIsUsed();
  });

  it(
    'continues with the primary when the replica stops, and returns when it is back',
    async () => {
      const [left, returned] = [countOf(UNUSED), countOf(USED_AGAIN)];
      const result = pool.query('SELECT pg_is_in_recovery() AS "isReplica", pg_sleep(1)');
      await replicaRuns('pg_sleep(1)');
      await replica.stop();
      expect(await result).toEqual([expect.objectContaining({ isReplica: false })]);

      const user = newUser();
      await addEntry(user);
      expect(await shownEntries(user)).toBe(1);
      await eventually('the state is known', async () => (await state()) === 'unavailable');
      expect(await metrics.value('mcs_database_replica_lag_seconds')).toBeUndefined();
      expect((await service.request('/readyz')).status).toBe(200);

      await replica.start();
      await replicaIsUsed();
      expect(await shownEntries(user)).toBe(1);
      expect([countOf(UNUSED), countOf(USED_AGAIN)]).toEqual([left + 1, returned + 1]);
    },
    TIMEOUT,
  );

  it('leads to the primary after the replica was promoted, and doctor says so', async () => {
    const other = await startTestApp({
      ...KEYS,
      DATABASE_URL: primary.url,
      DATABASE_READ_URL: promoted.url,
      METRICS_PORT: '0',
    });
    try {
      const otherMetrics = await serveMetrics(other);
      const isInState = async (name: string): Promise<boolean> =>
        (await otherMetrics.value('mcs_database_replica_state', { state: name })) === 1;
      await eventually('the replica is used', () => isInState('current'));
      const configuration = other.app.get(DatabaseConfiguration);
      expect(await inspectReplica(configuration)).toEqual({ seconds: expect.any(Number) });

      await promoted.query('SELECT pg_promote()');
      const { clientId } = other.development;
      await fillRequestLog(other, [
        loggedRequest({ clientId, environment: 'development' }, { createdAt: ago(0) }),
      ]);
      const otherLogin = await other.login();
      const { body } = await other.request<{ data: unknown[] }>('/request-logs?environment=development', {
        login: otherLogin,
      });
      expect(body.data).toHaveLength(1);
      const explanation = 'The server of DATABASE_READ_URL is not a replica. Was it promoted?';
      await eventually('the replica is not used', () => isInState('unavailable'));
      expect(messages()).toContain(`${UNUSED} ${explanation}`);
      expect(await inspectReplica(configuration)).toEqual({ problem: explanation });
    } finally {
      await other.close();
    }
  });

  it('does not keep the service from starting if the replica is unavailable', async () => {
    const left = countOf(UNUSED);
    const url = Object.assign(new URL(replica.url), { port: '1' }).href;
    const other = await startTestApp({ DATABASE_READ_URL: url });
    const response = await other.request('/request-logs?environment=development', {
      login: await other.login(),
    });
    expect(response.status).toBe(200);
    expect(countOf(UNUSED)).toBe(left + 1);
    await other.close();
  });

  it('keeps the service from starting if it is another database', async () => {
    const problem =
      'DATABASE_READ_URL does not lead to a replica of the database of DATABASE_URL: the cluster or the database differs.';
    const database = await cloneDatabase();
    const configuration = loadConfiguration({
      ...KEYS,
      DATABASE_URL: database.url,
      DATABASE_READ_URL: replica.url,
    });
    const app = await createApplication(configuration, { backgroundWork: false });
    await expect(app.init()).rejects.toThrow(problem);
    await app.close();
    await database.drop();

    const ofSameCluster = Object.assign(new DatabaseConfiguration(), {
      url: primary.url,
      readUrl: Object.assign(new URL(replica.url), { pathname: '/template1' }).href,
    });
    expect(await inspectReplica(ofSameCluster)).toEqual({ problem });
  });

  it('is checked with the certificate authority of the database', () => {
    const settings = { DATABASE_URL: primary.url, DATABASE_CA: TEST_AUTHORITY };
    const { readAddress } = loadConfiguration({ ...settings, DATABASE_READ_URL: replica.url }).get(
      DatabaseConfiguration,
    );
    expect(readAddress?.ssl).toEqual({ ca: TEST_AUTHORITY.trimEnd() });
    const unverified = { ...settings, DATABASE_READ_URL: `${replica.url}?sslmode=no-verify` };
    expect(() => loadConfiguration(unverified)).toThrow(
      'DATABASE_CA must be the only TLS setting: remove sslmode, sslrootcert, sslcert and sslkey from DATABASE_URL and DATABASE_READ_URL.',
    );
  });
});

async function retriesOf(name: string): Promise<number> {
  return (await metrics.value('mcs_database_replica_retries_total', { pool: name })) ?? 0;
}

/** Waits until the replica runs a query of the pool `test` with this text. */
async function replicaRuns(text: string): Promise<void> {
  await eventually(`the replica runs ${text}`, async () => {
    const rows = await replica.query(
      `SELECT FROM pg_stat_activity
        WHERE application_name LIKE '% test-replica' AND state = 'active' AND strpos(query, $1) > 0`,
      [text],
    );
    return rows.length > 0;
  });
}
