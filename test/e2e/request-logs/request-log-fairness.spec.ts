import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { DailyPartitions } from '../../../src/infrastructure/database/index.js';
import type { AttributedClient } from '../../../src/infrastructure/http/index.js';
import { DAY } from '../../../src/infrastructure/time/index.js';
import { RequestLogOverviewService } from '../../../src/modules/request-logs/index.js';
import { eventually } from '../../support/eventually.js';
import { startTestApp, type Login, type TestApp, type TestResponse } from '../../support/test-app.js';

const QUERIES = 12;

let service: TestApp;
let flooding: Login;
let other: Login;
let locker: pg.Client;

const day = (offset: number): string => new Date(Date.now() + offset * DAY).toISOString().slice(0, 10);

beforeAll(async () => {
  service = await startTestApp({ REQUEST_LOG_QUERY_TIMEOUT_MS: '30000' });
  await service.app.get(DailyPartitions).rotate('request_log', new Date(Date.now() - 4 * DAY), { days: 30 });
  flooding = await service.login();
  other = await service.login('owner', (await service.anotherOrganization()).id);
  locker = new pg.Client({ connectionString: service.database.url });
  await locker.connect();
});
afterAll(async () => {
  await locker.end();
  await service.close();
});

/** Lists the log of a day, which waits if the partition of that day is locked. */
const list = (login: Login, offset: number): Promise<TestResponse> =>
  service.request(
    `/request-logs?environment=production&start=${day(offset)}T00:00:00Z&end=${day(offset)}T12:00:00Z`,
    { login },
  );

const blockedQueries = async (): Promise<number> => {
  const rows = await service.database.query(
    `SELECT FROM pg_stat_activity WHERE application_name LIKE '% request-logs' AND wait_event_type = 'Lock'`,
  );
  return rows.length;
};

describe('Slow log queries of one organization', () => {
  it('use one connection, and those that exceed a short queue are refused', async () => {
    await locker.query(
      `BEGIN; LOCK TABLE request_log_${day(-4).replaceAll('-', '')} IN ACCESS EXCLUSIVE MODE`,
    );
    const responses: TestResponse[] = [];
    const flood = Array.from({ length: QUERIES }, async () => {
      responses.push(await list(flooding, -4));
    });
    await eventually(
      'all but one running and four waiting are refused',
      () => responses.length >= QUERIES - 5,
    );
    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: QUERIES - 5 }, () => 429));
    expect(responses[0]?.headers.get('retry-after')).toBe('1');
    expect(await blockedQueries()).toBe(1);

    expect(await list(other, -1)).toMatchObject({ status: 200 });

    await locker.query('COMMIT');
    await Promise.all(flood);
    expect(responses.slice(QUERIES - 5).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(await list(flooding, -4)).toMatchObject({ status: 200 });
  });

  it('let overviews of others have the next turn', async () => {
    const overview = async ({ cookie }: Login): Promise<number> =>
      (await fetch(`${service.baseUrl}/dashboard/production`, { headers: { cookie } })).status;
    await locker.query('BEGIN; LOCK TABLE request_log_rollup_progress IN ACCESS EXCLUSIVE MODE');
    const flood = Array.from({ length: QUERIES }, () => overview(flooding));
    const order: string[] = [];
    const flooded = flood.map(async (each) => {
      const status = await each;
      if (status === 200) order.push('flooding');
      return status;
    });
    await eventually('a query waits', async () => {
      const waiting = await service.database.query(
        `SELECT FROM pg_stat_activity WHERE application_name LIKE '% request-log-overview' AND wait_event_type = 'Lock'`,
      );
      return waiting.length > 0;
    });
    const another = overview(other).then(() => order.push('other'));
    await pause(1_000);
    await locker.query('COMMIT');
    await Promise.all([...flooded, another]);
    expect(order.indexOf('other')).toBeLessThanOrEqual(1);
    expect((await Promise.all(flooded)).filter((status) => status !== 200)).toHaveLength(QUERIES - 5);
  });

  it('let histograms of others have the next turn', async () => {
    const overviews = service.app.get(RequestLogOverviewService, { strict: false });
    const histogram = (clientId: string) => {
      const client: AttributedClient = { clientId, environment: 'production' };
      const period = { start: `${day(-1)}T00:00:00Z`, end: `${day(-1)}T12:00:00Z` };
      return overviews.histogram(client, period, {});
    };
    await locker.query('BEGIN; LOCK TABLE request_log_rollup_progress IN ACCESS EXCLUSIVE MODE');
    const order: string[] = [];
    const { clientId } = (await service.anotherOrganization()).production;
    const counted = Array.from({ length: QUERIES }, async () => {
      const points = await histogram(service.production.clientId);
      if (points) order.push('flooding');
    });
    const another = histogram(clientId).then((points) => order.push(points ? 'other' : 'none'));
    await locker.query('COMMIT');
    await Promise.all([...counted, another]);
    expect(order.indexOf('other')).toBeGreaterThanOrEqual(0);
    expect(order.indexOf('other')).toBeLessThanOrEqual(1);
    expect(order).toHaveLength(6);
  });
});
