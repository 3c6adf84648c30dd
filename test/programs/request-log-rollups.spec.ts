import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { DAY, HOUR, MINUTE } from '../../src/infrastructure/time/index.js';
import type { AttributedClient } from '../../src/infrastructure/http/index.js';
import type { IssuedCredentials } from '../../src/modules/api-clients/index.js';
import {
  RequestLogOverviewService,
  RequestLogRollupsService,
  type NewRequestLogEntry,
  type OutcomeCounts,
  type OverviewPeriod,
  type RequestLogOverview,
} from '../../src/modules/request-logs/index.js';
import { moveClock } from '../support/clock.js';
import { COMMAND_TIMEOUT, startTestAppWithCommands, type Commands } from '../support/programs/commands.js';
import { eventually } from '../support/eventually.js';
import { Program } from '../support/programs/program.js';
import { fillRequestLog, loggedAttempt, loggedRequest } from '../support/logs/request-log-entries.js';
import type { TestApp } from '../support/test-app.js';

const ROLLUPS = ['request_log_rollup', 'request_log_hourly_rollup'];
const RETENTION_DAYS = 8;
const PERIODS: readonly OverviewPeriod[] = ['24h', '7d'];
const ENDPOINTS = [randomUUID(), randomUUID()];
const EVENTS = ['AUTHENTICATED', 'CARD_UPDATED'];
const PATHS = ['/mcp/tokens/create', '/session/create', `/webhook-endpoints/${randomUUID()}`];

let service: TestApp;
let commands: Commands;
let other: IssuedCredentials;
let rollups: RequestLogRollupsService;
let overviews: RequestLogOverviewService;

beforeAll(async () => {
  ({ service, commands } = await startTestAppWithCommands({
    REQUEST_LOG_RETENTION_DAYS: String(RETENTION_DAYS),
  }));
  ({ production: other } = await service.anotherOrganization());
  rollups = service.app.get(RequestLogRollupsService);
  overviews = service.app.get(RequestLogOverviewService);
});
afterAll(async () => {
  await Program.endAll();
  await service.close();
});
beforeEach(async () => {
  await service.database.query(
    'TRUNCATE request_log, request_log_rollup, request_log_hourly_rollup, request_log_rollup_progress',
  );
});

const ago = (milliseconds: number): Date => new Date(Date.now() - milliseconds);
const startOfSlice = (time: Date): Date => new Date(Math.floor(time.getTime() / (5 * MINUTE)) * 5 * MINUTE);
const pick = <Value>(values: readonly Value[]): Value =>
  values[Math.floor(Math.random() * values.length)] as Value;

/** Returns an entry with random values. */
function anEntry(client: AttributedClient, createdAt: Date): NewRequestLogEntry {
  const latencyMilliseconds = Math.floor(Math.exp(Math.random() * 9));
  if (Math.random() < 0.5) {
    const [path, statusCode] = [pick(PATHS), pick([200, 200, 201, 302, 400, 401, 429, 500])];
    return loggedRequest(client, { createdAt, path, statusCode, latencyMilliseconds });
  }
  const entry = loggedAttempt(client, {
    createdAt,
    event: pick(EVENTS),
    statusCode: pick([200, 200, 204, 301, 404, 503, 999, 0]),
    latencyMilliseconds,
  });
  return { ...entry, attempt: { ...entry.attempt!, endpointId: pick(ENDPOINTS) } };
}

const someEntries = (count: number, client: AttributedClient, time: () => Date): NewRequestLogEntry[] =>
  Array.from({ length: count }, () => anEntry(client, time()));

interface Row {
  readonly createdAt: Date;
  readonly type: 'request' | 'webhook';
  readonly path: string | null;
  readonly endpointId: string | null;
  readonly event: string | null;
  readonly statusCode: number;
  readonly latency: number;
}

function outcomesOf(rows: readonly Row[]): OutcomeCounts {
  const count = (condition: (row: Row) => boolean): number => rows.filter(condition).length;
  const between =
    (low: number, high: number) =>
    ({ statusCode }: Row): boolean =>
      statusCode >= low && statusCode < high;
  const failed = count(({ type, statusCode }) =>
    type === 'webhook' ? statusCode !== 200 : statusCode >= 400,
  );
  return {
    total: rows.length,
    succeeded: rows.length - failed,
    failed,
    status2xx: count(between(200, 300)),
    status3xx: count(between(300, 400)),
    status4xx: count(between(400, 500)),
    status5xx: count(between(500, 1_000)),
  };
}

function by(rows: readonly Row[], keyOf: (row: Row) => string | null): Record<string, OutcomeCounts> {
  const keys = [...new Set(rows.map((row) => String(keyOf(row))))];
  return Object.fromEntries(
    keys.map((key) => [key, outcomesOf(rows.filter((row) => String(keyOf(row)) === key))]),
  );
}

function percentile(rows: readonly Row[], share: number): number | null {
  const latencies = rows.map(({ latency }) => latency).toSorted((left, right) => left - right);
  return latencies[Math.ceil(latencies.length * share) - 1] ?? null;
}

function expectClose(measured: number | null, exact: number | null): void {
  expect(measured === null).toBe(exact === null);
  expect(Math.abs((measured ?? 0) - (exact ?? 0))).toBeLessThanOrEqual(0.1 * (exact ?? 0) + 0.5);
}

type Section = RequestLogOverview['requests' | 'deliveries'];

function expectSection(section: Section, rows: readonly Row[], { step, end }: RequestLogOverview): void {
  const expectCounts = (counted: Section | Section['points'][number], among: readonly Row[]): void => {
    const outcomes = outcomesOf(among);
    expect(counted).toMatchObject(outcomes);
    expect(counted.errorRate).toBe(among.length === 0 ? null : outcomes.failed / outcomes.total);
    expectClose(counted.p50, percentile(among, 0.5));
    expectClose(counted.p95, percentile(among, 0.95));
  };
  expectCounts(section, rows);
  for (const point of section.points) {
    const next = Math.min(point.start.getTime() + step, end.getTime() + 1);
    expectCounts(
      point,
      rows.filter(({ createdAt }) => createdAt >= point.start && createdAt.getTime() < next),
    );
  }
}

const named = <Key extends string>(
  list: readonly (OutcomeCounts & Readonly<Record<Key, string | null>>)[],
  key: Key,
): Record<string, unknown> =>
  Object.fromEntries(list.map(({ [key]: name, ...counts }) => [String(name), counts]));

/** Compares the overviews of a client with all entries of its log. Returns the number of entries in 7 days. */
async function expectAgreement(client: AttributedClient): Promise<number> {
  let entries = 0;
  // Neither bound is at the start of a slice or an hour.
  const bounds = { start: ago(5.3 * DAY).toISOString(), end: ago(61.3 * MINUTE).toISOString() };
  for (const period of [bounds, ...PERIODS]) {
    const overview = await overviews.overview({ client, period });
    const rows = await service.database.query<Row>(
      `SELECT created_at AS "createdAt", type, method || ' ' || path AS path, webhook_endpoint_id AS "endpointId", event,
              status_code AS "statusCode", latency_ms AS latency
         FROM request_log WHERE client_id = $1 AND created_at >= $2 AND created_at <= $3`,
      [client.clientId, overview.start, overview.end],
    );
    const requests = rows.filter(({ type }) => type === 'request');
    const deliveries = rows.filter(({ type }) => type === 'webhook');
    expectSection(overview.requests, requests, overview);
    expectSection(overview.deliveries, deliveries, overview);
    const operation = ({ path }: Row): string | null => path?.replace(/[0-9a-f-]{36}/, '{id}') ?? null;
    expect(named(overview.requests.operations, 'operation')).toEqual(by(requests, operation));
    expect(named(overview.deliveries.endpoints, 'endpointId')).toEqual(
      by(deliveries, ({ endpointId }) => endpointId),
    );
    expect(named(overview.deliveries.events, 'event')).toEqual(by(deliveries, ({ event }) => event));
    entries = rows.length;
  }
  return entries;
}

async function rolledUpEntries(condition = 'true'): Promise<number> {
  const [row] = await service.database.query<{ entries: number }>(
    `SELECT coalesce(sum(count), 0)::int AS entries FROM request_log_rollup, unnest(counts) AS count WHERE ${condition}`,
  );
  return row?.entries ?? 0;
}

async function withConnection<Result>(work: (connection: pg.Client) => Promise<Result>): Promise<Result> {
  const connection = new pg.Client({ connectionString: service.database.url });
  connection.on('error', () => undefined);
  await connection.connect();
  try {
    return await work(connection);
  } finally {
    await connection.end();
  }
}

const INSERT_LATE = `INSERT INTO request_log (client_id, environment, created_at, type, method, path, status_code, latency_ms)
  VALUES ($1, $2, $3, 'request', 'POST', '/late', 200, 5)`;

const lateEntry = ({ clientId, environment }: AttributedClient, time: Date): unknown[] => [
  clientId,
  environment,
  time,
];

/** Makes every insertion of rollups take this long, until the returned function is called. */
async function slowDown(seconds: number): Promise<() => Promise<void>> {
  await service.database.query(`
    CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(${seconds}); RETURN NULL; END $$;
    CREATE TRIGGER wait AFTER INSERT ON request_log_rollup FOR EACH STATEMENT EXECUTE FUNCTION wait()`);
  return async () => {
    await service.database.query('DROP FUNCTION wait CASCADE');
  };
}

/** Returns the process IDs of the sessions in which an insertion of rollups waits. */
const waitingSessions = (): Promise<{ pid: number }[]> =>
  service.database.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE datname = $1 AND wait_event = 'PgSleep'`,
    [service.database.name],
  );

describe('The rollups of the request log', () => {
  it('and the newest entries equal a count over the log, for each client', async () => {
    const clients = [service.production, service.development, other];
    const times = Array.from({ length: 12 }, () => ago(Math.random() * RETENTION_DAYS * DAY));
    for (const [index, client] of clients.entries()) {
      const entries = [
        ...someEntries(300 + index, client, () => pick(times)),
        ...someEntries(100, client, () => ago(Math.random() * 20 * MINUTE)),
      ];
      await fillRequestLog(service, entries);
    }
    expect(await overviewTotals(service.production)).toBe(await expectAgreement(service.production));

    await rollups.update();
    await rollups.backfill();
    await fillRequestLog(
      service,
      someEntries(50, service.production, () => ago(Math.random() * MINUTE)),
    );
    for (const client of clients) expect(await expectAgreement(client)).toBeGreaterThan(200);
    {
      using _clock = moveClock(service, 10 * MINUTE);
      await rollups.update();
    }
    expect(await rolledUpEntries()).toBe(3 * 400 + 3 + 50);
    for (const client of clients) await expectAgreement(client);
  });

  it('are rolled up in the background, the newest first', async () => {
    await fillRequestLog(service, [loggedRequest(service.production, { createdAt: ago(3 * DAY) })]);
    await rollups.update();
    const before = await overviews.overview({ client: service.production, period: '7d' });
    expect(before.requests.total).toBe(0);
    expect(before.incompleteBefore).toEqual(startOfSlice(ago(2 * MINUTE)));
    await rollups.backfill();
    const after = await overviews.overview({ client: service.production, period: '7d' });
    expect(after).toMatchObject({ incompleteBefore: null, requests: { total: 1 } });
  });

  it('equal a count over the log after concurrent writes, late entries and concurrent updates', async () => {
    await rollups.update();
    // Half of the entries are late. The clock of the updates is fast, so that they close slices that are being written.
    {
      using _clock = moveClock(service, 8 * MINUTE);
      const time = (): Date => ago(Math.random() < 0.5 ? 0 : Math.random() * 30 * MINUTE);
      let isWriting = true;
      const writers = Array.from({ length: 4 }, async (_, index) => {
        const client = index % 2 === 0 ? service.production : other;
        for (let batch = 0; batch < 25; batch += 1)
          await fillRequestLog(service, someEntries(20, client, time));
      });
      const slowWriters = Array.from({ length: 2 }, () =>
        withConnection(async (connection) => {
          for (let round = 0; round < 10; round += 1) {
            await connection.query('BEGIN');
            await connection.query(INSERT_LATE, lateEntry(service.production, time()));
            await pause(Math.random() * 60);
            await connection.query(round % 3 === 0 ? 'ROLLBACK' : 'COMMIT');
          }
        }),
      );
      const updates = Array.from({ length: 3 }, async () => {
        while (isWriting) await rollups.update();
      });
      await Promise.all([...writers, ...slowWriters]);
      isWriting = false;
      await Promise.all(updates);
      await rollups.update();
      await rollups.backfill();
    }
    expect(await rolledUpEntries()).toBe(2_000 + 12);
    expect(await expectAgreement(service.production)).toBe(1_000 + 12);
    expect(await expectAgreement(other)).toBe(1_000);
  });

  it('contain an entry that is committed after its slice was rolled up, however late it is', async () => {
    const time = startOfSlice(ago(2 * HOUR));
    await fillRequestLog(service, [loggedRequest(service.production, { createdAt: time })]);
    await rollups.update();
    await rollups.backfill();
    await withConnection(async (connection) => {
      // The entry gets its ID before the update, and is committed after the update has begun.
      await connection.query('BEGIN');
      await connection.query(INSERT_LATE, lateEntry(service.production, time));
      await fillRequestLog(service, [loggedRequest(service.production, { createdAt: time })]);
      let isUpdated = false;
      const update = rollups.update().then(() => (isUpdated = true));
      await pause(200);
      expect(isUpdated).toBe(false);
      await connection.query('COMMIT');
      await update;
    });
    expect(await rolledUpEntries()).toBe(3);
    await fillRequestLog(service, [loggedRequest(service.production, { createdAt: time })]);
    await rollups.update();
    expect(await expectAgreement(service.production)).toBe(4);
  });

  it('look at each entry once to find late ones', async () => {
    await rollups.update();
    await fillRequestLog(service, [loggedRequest(service.production, { createdAt: ago(0) })]);
    await rollups.update();
    const [row] = await service.database.query(
      'SELECT seen_id >= (SELECT max(id) FROM request_log) AS "isSeen" FROM request_log_rollup_progress',
    );
    expect(row).toEqual({ isSeen: true });
  });

  it('are as before if the database ends an update, and the next update continues', async () => {
    const time = ago(HOUR);
    await fillRequestLog(
      service,
      someEntries(50, service.production, () => time),
    );
    await rollups.update();
    await rollups.backfill();
    await fillRequestLog(
      service,
      someEntries(25, service.production, () => time),
    );
    const speedUp = await slowDown(30);
    let outcome: string | undefined;
    const updating = rollups.update().then(
      () => (outcome = 'updated'),
      () => (outcome = 'failed'),
    );
    // The transaction is repeated if its connection is lost.
    await eventually('the update ends', async () => {
      for (const { pid } of await waitingSessions())
        await service.database.query('SELECT pg_terminate_backend($1::integer)', [pid]);
      return outcome;
    });
    expect(await updating).toBe('failed');
    expect(await rolledUpEntries()).toBe(50);
    await speedUp();
    await rollups.update();
    expect(await rolledUpEntries()).toBe(75);
    expect(await expectAgreement(service.production)).toBe(75);
  });

  it('wait while entries are moved between partitions', async () => {
    const time = ago(HOUR);
    await fillRequestLog(service, [loggedRequest(service.production, { createdAt: time })]);
    await rollups.update();
    await service.database.query('CREATE TABLE request_log_stray_1 (LIKE request_log)');
    await rollups.backfill();
    await expect(rollups.rebuild({ start: time })).rejects.toThrow(
      'The rollups cannot be rebuilt while entries are moved between partitions. Retry the command in a few minutes.',
    );
    expect(await rolledUpEntries()).toBe(0);
    await service.database.query('DROP TABLE request_log_stray_1');
    await rollups.backfill();
    expect(await rolledUpEntries()).toBe(1);
  });

  it('are not counted twice while an update adds some', async () => {
    const time = ago(3 * HOUR);
    time.setUTCMinutes(40);
    await fillRequestLog(service, [loggedRequest(service.production, { createdAt: time })]);
    await rollups.update();
    await rollups.backfill();
    // An overview has read the progress before the update.
    const until = new Date(time.getTime() - 10 * MINUTE);
    await service.database.query('UPDATE request_log_rollup_progress SET since = $1, until = $1', [
      startOfSlice(until),
    ]);
    expect(await expectAgreement(service.production)).toBe(1);
  });

  it('are dropped with the days of the log', async () => {
    const oldestKept = new Date(Math.floor(ago(RETENTION_DAYS * DAY).getTime() / DAY) * DAY);
    for (const start of [new Date(oldestKept.getTime() - 5 * MINUTE), oldestKept]) {
      for (const table of ROLLUPS) {
        await service.database.query(
          `INSERT INTO ${table} VALUES ($1, $2, 'request', '{POST /}', '{null}', '{200}', '{7}', '{5}', '{7}')`,
          [service.production.clientId, start],
        );
      }
    }
    await rollups.update();
    for (const table of ROLLUPS) {
      expect(await service.database.query(`SELECT start FROM ${table}`)).toEqual([{ start: oldestKept }]);
    }
  });

  it('keep the rarest paths together if there are very many', async () => {
    const time = startOfSlice(ago(HOUR));
    const paths = Array.from({ length: 500 }, (_, index) => `/webhook-endpoints/x${index}`);
    await fillRequestLog(
      service,
      [...paths, ...Array<string>(5).fill('/session/create')].map((path) =>
        loggedRequest(service.production, { createdAt: time, path }),
      ),
    );
    await rollups.rebuild({ start: time, end: time });
    const { requests } = await overviews.overview({ client: service.production, period: '24h' });
    expect(requests.total).toBe(505);
    expect(requests.operations).toHaveLength(201);
    expect(requests.operations.slice(0, 2)).toMatchObject([
      { operation: null, total: 301 },
      { operation: 'POST /session/create', total: 5 },
    ]);
  });
});

describe('request-log rebuild-rollups', () => {
  it(
    'repairs the rollups of a period, and continues after it was killed',
    async () => {
      const time = startOfSlice(ago(3 * HOUR));
      const minutesLater = (minutes: number): Date => new Date(time.getTime() + minutes * MINUTE);
      await fillRequestLog(
        service,
        someEntries(80, service.production, () => minutesLater(Math.random() * 20)),
      );
      await rollups.update();
      await rollups.backfill();
      await service.database.query(
        `UPDATE request_log_rollup SET counts = array_fill(9, ARRAY[cardinality(counts)])`,
      );
      const damaged = await rolledUpEntries();

      const speedUp = await slowDown(0.5);
      const command = `request-log rebuild-rollups --start ${time.toISOString()} --end ${minutesLater(14).toISOString()}`;
      const killed = commands.start(command);
      await eventually('the insertion', async () => (await waitingSessions()).length > 0);
      killed.signal('SIGKILL');
      await killed.ended;
      await eventually('the end of the session', async () => (await waitingSessions()).length === 0);
      await speedUp();
      expect(await rolledUpEntries()).toBe(damaged);

      expect(await commands.result(command)).toEqual({
        start: time.toISOString(),
        end: minutesLater(15).toISOString(),
      });
      const [{ entries } = { entries: 0 }] = await service.database.query<{ entries: number }>(
        'SELECT count(*)::int AS entries FROM request_log WHERE created_at < $1',
        [minutesLater(15)],
      );
      expect(await rolledUpEntries(`start < '${minutesLater(15).toISOString()}'`)).toBe(entries);
      await expect(expectAgreement(service.production)).rejects.toThrow();
      await commands.result('request-log rebuild-rollups');
      expect(await expectAgreement(service.production)).toBe(80);
    },
    COMMAND_TIMEOUT,
  );
});

/** Returns how many entries the overview of 7 days shows. */
async function overviewTotals(client: AttributedClient): Promise<number> {
  const { requests, deliveries } = await overviews.overview({ client, period: '7d' });
  return requests.total + deliveries.total;
}
