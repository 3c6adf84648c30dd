import { createHash } from 'node:crypto';
import { DailyPartitions, type ReadPool } from '../../../src/infrastructure/database/index.js';
import { PartitionRotation } from '../../../src/infrastructure/database/partition-rotation.job.js';
import { DAY } from '../../../src/infrastructure/time/index.js';
import {
  RequestLogRepository,
  type RequestLogEntry,
  type RequestLogFilter,
  type RequestLogPosition,
} from '../../../src/modules/request-logs/index.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

/** Entries of the client in seven days. Other clients have as many. */
const ENTRIES = 42_000;
const PAGE = 26;
const END = new Date('2026-01-31T12:00:00Z');
const SMALL_CLIENT = '22222222-2222-4222-8222-222222222222';
const PERIOD = { start: new Date(END.getTime() - 7 * DAY), end: END };

/** A node of `EXPLAIN (ANALYZE, FORMAT JSON)`. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Loops': number;
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

/** The work of a query. */
interface Work {
  readonly found: number;
  readonly nodes: readonly string[];
  readonly partitions: number;
  /** Index names without the partition. */
  readonly indexes: readonly string[];
  readonly rowsLookedAt: number;
  readonly rowsPassedOver: number;
  /** Blocks of 8 KiB, including index blocks that contained no matching row. */
  readonly blocks: number;
}

let service: TestApp;
let store: RequestLogRepository;
let client: { clientId: string; environment: 'production' };
let plans: PlanNode[];
let restore: () => void;

beforeAll(async () => {
  service = await startTestApp();
  store = service.app.get(RequestLogRepository);
  client = { clientId: service.production.clientId, environment: 'production' };
  await fill();
  ({ plans, restore } = explained(store));
}, 60_000);
afterAll(async () => {
  restore();
  await service.close();
});
beforeEach(() => {
  plans.length = 0;
});

/**
 * Half of the entries are requests, half are webhooks to five endpoints. Each user, session, task, event and status has a few
 * entries.
 */
async function fill(): Promise<void> {
  const { database } = service;
  // The start creates the partitions of today, and then deletes those of January, which the test needs.
  const rotation = service.app.get(PartitionRotation);
  await rotation.run();
  await rotation.run();
  await service.app
    .get(DailyPartitions)
    .rotate('request_log', new Date(PERIOD.start.getTime() - DAY), { days: 30 });
  await service.app.get(DailyPartitions).rotate('request_log', END, { days: 30 });
  await database.query(
    `INSERT INTO request_log (client_id, environment, created_at, type, method, path, url, event, status_code, latency_ms,
                              session_id, task_id, external_user_id, webhook_endpoint_id, webhook_event_id, api_key)
     SELECT client_id, 'production', $1::timestamptz + number * interval '7 days' / $2, type, 'POST',
            CASE type WHEN 'request' THEN '/mcp/tokens/create' END,
            CASE type WHEN 'webhook' THEN 'https://example.com/' END,
            CASE type WHEN 'webhook' THEN 'EVENT_' || number % 4 END,
            CASE WHEN number % 50 < 2 THEN 500 + number % 50 ELSE 200 END, 12,
            md5((number / 60)::text)::uuid, CASE type WHEN 'webhook' THEN number / 60 END, 'user-' || number % 3000,
            CASE type WHEN 'webhook' THEN md5(client_id || ' endpoint ' || number % 5)::uuid END,
            CASE type WHEN 'webhook' THEN md5(client_id || ' event ' || number / 3)::uuid END,
            CASE type WHEN 'request' THEN 'key-' || number % 20 END
       FROM generate_series(1, $2) number,
            (VALUES ($3::uuid, 'request'), ($3, 'webhook'), (gen_random_uuid(), 'request'), (gen_random_uuid(), 'webhook'))
              AS kind (client_id, type)`,
    [PERIOD.start, ENTRIES / 2, client.clientId],
  );
  // A client with a small share of the entries, whose part of the primary key looks cheap to the planner.
  await database.query(
    `INSERT INTO request_log (client_id, environment, created_at, type, method, path, status_code, latency_ms)
     SELECT $3, 'production', $1::timestamptz + number * interval '7 days' / $2, 'request', 'POST', '/', 200, 12
       FROM generate_series(1, $2) number`,
    [PERIOD.start, ENTRIES / 20, SMALL_CLIENT],
  );
  await database.query('VACUUM ANALYZE request_log');
}

/** Explains every statement of the store, as it is actually executed. */
function explained(of: RequestLogRepository): { plans: PlanNode[]; restore: () => void } {
  const { reads } = of as unknown as { readonly reads: ReadPool };
  const found: PlanNode[] = [];
  const query = reads.query.bind(reads);
  reads.query = (async (statement: string, values: unknown[]) => {
    const [row] = await query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement}`,
      values,
    );
    if (row) found.push(row['QUERY PLAN'][0].Plan);
    return query(statement, values);
  }) as typeof reads.query;
  return { plans: found, restore: () => Reflect.deleteProperty(reads, 'query') };
}

function allNodes(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(allNodes)];
}

/** Returns the executed plan nodes of the last statement. */
function lastNodes(): PlanNode[] {
  return plans
    .slice(-1)
    .flatMap(allNodes)
    .filter((node) => node['Actual Loops'] > 0);
}

function lastWork(found: number): Work {
  const plan = plans.at(-1);
  const nodes = lastNodes();
  const scans = nodes.filter((node) => node['Relation Name'] !== undefined);
  const sum = (value: (node: PlanNode) => number): number =>
    scans.reduce((total, node) => total + Math.round(value(node)), 0);
  return {
    found,
    nodes: nodes.map((node) => node['Node Type']),
    partitions: scans.length,
    indexes: [
      ...new Set(nodes.flatMap((node) => node['Index Name']?.replace(/request_log_\w+?_/, '') ?? [])),
    ],
    rowsLookedAt: sum((node) => node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)),
    rowsPassedOver: sum((node) => node['Rows Removed by Filter'] ?? 0),
    blocks: plan ? plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] : 0,
  };
}

async function newest(
  filter: RequestLogFilter = {},
  before?: RequestLogPosition,
): Promise<{ work: Work; entries: RequestLogEntry[] }> {
  const entries = await store.newest({ client, period: PERIOD, filter }, { before, limit: PAGE });
  return { work: lastWork(entries.length), entries };
}

/** Returns the position at a depth of the log. */
async function positionAt(depth: number, clientId = client.clientId): Promise<RequestLogPosition> {
  const [row] = await service.database.query<{ id: string; created_at: Date }>(
    `SELECT id, created_at FROM request_log WHERE client_id = $1 ORDER BY created_at DESC, id DESC OFFSET $2 LIMIT 1`,
    [clientId, depth],
  );
  if (!row) throw new Error(`There are no ${depth} entries`);
  return { id: Number(row.id), datetime: row.created_at };
}

describe('Query plans of the request log', () => {
  it('read only the rows of the first page', async () => {
    const { work } = await newest();
    expect(work).toMatchObject({ found: PAGE, partitions: 1, rowsLookedAt: PAGE, rowsPassedOver: 0 });
    expect(work.indexes).toEqual(['pkey']);
    expect(work.nodes).not.toContain('Sort');
  });

  it.each([3_000, 20_000, 35_000])('read a page at depth %i at the cost of the first', async (depth) => {
    const { work: first } = await newest();
    const { work, entries } = await newest({}, await positionAt(depth));
    expect(work).toMatchObject({ found: PAGE, rowsPassedOver: 0 });
    // A page may end on the previous day.
    const days = new Set(entries.map(({ datetime }) => datetime.toISOString().slice(0, 10)));
    expect(work.partitions).toBe(days.size);
    // The scan starts at the position, not at the end of the period.
    expect(work.blocks).toBeLessThanOrEqual(2 * first.blocks + 4);
    expect(work.rowsLookedAt).toBe(PAGE);
    expect(work.indexes).toEqual(['pkey']);
    expect(work.nodes).not.toContain('Sort');
  });

  const RARE = { sessionId: '11111111-1111-4111-8111-111111111111', taskId: -1, externalUserId: 'nobody' };

  /** Returns the ID that `fill()` gave to an endpoint or event of the client. */
  const idOf = (name: string): string =>
    createHash('md5')
      .update(`${client.clientId} ${name}`)
      .digest('hex')
      .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

  it.each<[string, () => RequestLogFilter, number, string]>([
    ['endpointId', () => ({ endpoint_id: idOf('endpoint 3') }), PAGE, 'webhook_endpoint_id_created_at'],
    ['endpointId of nothing', () => ({ endpoint_id: RARE.sessionId }), 0, 'webhook_endpoint_id_created_at'],
    ['eventId', () => ({ event_id: idOf('event 17') }), 3, 'environment_webhook_e'],
    ['the name of a key', () => ({ api_key: 'key-7' }), PAGE, 'environment_api_key'],
    ['the name of a key without entries', () => ({ api_key: 'nothing' }), 0, 'environment_api_key'],
    ['eventId of nothing', () => ({ event_id: RARE.sessionId }), 0, 'environment_webhook_e'],
    [
      'eventId and endpointId',
      () => ({ event_id: idOf('event 17'), endpoint_id: idOf('endpoint 1') }),
      1,
      'environment_webhook_e',
    ],
    [
      'failures of an endpoint that has failures',
      () => ({ endpoint_id: idOf('endpoint 1'), outcome: 'failure' }),
      PAGE,
      'webhook_endpoint_id_created_at_idx1',
    ],
    [
      'failures of an endpoint that has none',
      () => ({ endpoint_id: idOf('endpoint 3'), outcome: 'failure' }),
      0,
      'webhook_endpoint_id_created_at_idx1',
    ],
  ])('use an index that starts with the filter for %s', async (_, filter, found, index) => {
    const { work } = await newest(filter());
    expect(work.found).toBe(found);
    expect(work.rowsPassedOver).toBeLessThanOrEqual(2);
    // A page may end within a millisecond, whose entries have to be sorted.
    expect(work.rowsLookedAt).toBeLessThanOrEqual(2 * PAGE);
    expect(work.nodes).not.toContain('Seq Scan');
    if (work.found === PAGE) expect(work.nodes).not.toContain('Sort');
    for (const name of work.indexes) expect(name).toContain(index);
  });

  it('read a page of an endpoint at a depth at the cost of the first', async () => {
    const filter = { endpoint_id: idOf('endpoint 3') };
    const { work: first } = await newest(filter);
    const { work } = await newest(filter, await positionAt(35_000));
    expect(work.found).toBe(PAGE);
    expect(work.rowsLookedAt).toBeLessThanOrEqual(2 * PAGE);
    expect(work.blocks).toBeLessThanOrEqual(2 * first.blocks + 4);
  });

  it.each([
    ['that has failures', () => client.clientId, PAGE],
    ['that has none', () => SMALL_CLIENT, 0],
  ])('read only failures for outcome=failure of a client %s', async (_, clientId, found) => {
    const entries = await store.newest(
      { client: { ...client, clientId: clientId() }, period: PERIOD, filter: { outcome: 'failure' } },
      { before: undefined, limit: PAGE },
    );
    const work = lastWork(entries.length);
    expect(work).toMatchObject({ found, rowsPassedOver: 0 });
    expect(work.rowsLookedAt).toBeLessThanOrEqual(PAGE);
    expect(work.nodes).not.toContain('Seq Scan');
    expect(work.nodes).not.toContain('Sort');
    expect(work.indexes).not.toContain('pkey');
  });

  it.each<[RequestLogFilter, string]>([
    [{ external_user_id: 'user-7' }, 'external_user_id'],
    [{ external_user_id: RARE.externalUserId }, 'external_user_id'],
    [{ task_id: 17 }, 'task_id'],
    [{ task_id: RARE.taskId }, 'task_id'],
    [{ session_id: RARE.sessionId }, 'session_id'],
    [{ event: 'EVENT_2' }, 'event'],
    [{ event: 'NO_SUCH_EVENT' }, 'event'],
    [{ status_code: 501 }, 'status_code'],
    [{ status_code: 418 }, 'status_code'],
  ])('use an index that starts with the filter for %j', async (filter, column) => {
    const { work } = await newest(filter);
    expect(work.rowsPassedOver).toBe(0);
    expect(work.rowsLookedAt).toBeLessThanOrEqual(PAGE);
    expect(work.nodes).not.toContain('Seq Scan');
    // A few rows may be sorted, a full page must not be.
    if (work.found === PAGE) expect(work.nodes).not.toContain('Sort');
    for (const index of work.indexes) expect(index).toContain(`environment_${column.slice(0, 9)}`);
  });

  it.each<RequestLogFilter>([{ type: 'request' }, { status_code: 200 }, { outcome: 'success' }])(
    'filter few rows for %j',
    async (filter) => {
      const { work } = await newest(filter);
      expect(work).toMatchObject({ found: PAGE, indexes: ['pkey'] });
      expect(work.rowsPassedOver).toBeLessThanOrEqual(2 * PAGE);
    },
  );

  it.each([
    ['half of whose entries are webhooks', () => client.clientId, PAGE],
    ['that has no webhooks', () => SMALL_CLIENT, 0],
  ])('read only webhooks for type=webhook of a client %s', async (_, clientId, found) => {
    const entries = await store.newest(
      { client: { ...client, clientId: clientId() }, period: PERIOD, filter: { type: 'webhook' } },
      { before: undefined, limit: PAGE },
    );
    const work = lastWork(entries.length);
    expect(work.found).toBe(found);
    expect(work.rowsPassedOver).toBeLessThanOrEqual(2 * PAGE);
    expect(work.rowsLookedAt).toBeLessThanOrEqual(3 * PAGE);
    expect(work.nodes).not.toContain('Seq Scan');
  });

  it.each<RequestLogFilter>([
    { external_user_id: 'user-7', event: 'EVENT_3' },
    { event: 'EVENT_1', status_code: 500 },
    { session_id: RARE.sessionId, type: 'webhook' },
    { status_code: 501, type: 'request' },
    { outcome: 'failure', type: 'webhook' },
    { outcome: 'failure', external_user_id: 'user-7' },
  ])('use the more selective index for %j', async (filter) => {
    const { work } = await newest(filter);
    // 2 in 50 entries have such a status, 1 in 3,000 belongs to the user.
    expect(work.rowsLookedAt).toBeLessThanOrEqual((ENTRIES * 2) / 50);
    expect(work.nodes).not.toContain('Seq Scan');
  });

  it('find one entry by its ID in a single partition', async () => {
    const { id } = await positionAt(20_000);
    expect(await store.find([client], id)).toMatchObject({ id });
    const nodes = lastNodes();
    // Every partition is searched, by an index that excludes the ID at once.
    const scans = nodes.filter((node) => node['Node Type'] === 'Bitmap Heap Scan');
    expect(scans.filter((node) => node['Actual Rows'] > 0)).toHaveLength(1);
    expect(Math.max(...nodes.map((node) => node['Rows Removed by Filter'] ?? 0))).toBe(0);
  });

  it('find one entry by its ID without reading the primary keys of a small client', async () => {
    const { id } = await positionAt(300, SMALL_CLIENT);
    expect(await store.find([{ ...client, clientId: SMALL_CLIENT }], id)).toMatchObject({ id });
    const indexes = lastNodes().flatMap((node) => node['Index Name'] ?? []);
    expect(indexes.length).toBeGreaterThan(5);
    expect(indexes.filter((name) => !name.endsWith('_id_idx'))).toEqual([]);
  });
});
