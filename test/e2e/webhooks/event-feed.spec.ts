import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { OverdueWork } from '../../../src/infrastructure/database/index.js';
import { ApiClientsService } from '../../../src/modules/api-clients/index.js';
import { ApiKeysService } from '../../../src/modules/api-keys/index.js';
import { WebhookPublisher, exampleEvent } from '../../../src/modules/webhooks/index.js';
import { finishErasures } from '../../support/merchants/erasures.js';
import { moveClock, setClock } from '../../support/clock.js';
import { eventually } from '../../support/eventually.js';
import { logLines } from '../../support/logs/log-lines.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { watchStatements } from '../../support/database/statements.js';
import { error, invalidField, newKeys, startTestApp, type TestApp } from '../../support/test-app.js';
import { expectUsualErrors } from '../../support/http/usual-errors.js';

const PATH = '/webhook-events';
const DAY = 86_400_000;
const INVALID_CURSOR = { status: 400, body: { error_code: 'INVALID_CURSOR_FORMAT' } };

interface Feed {
  readonly data: readonly { id: string; event: string; created_at: string; body?: string; erased?: true }[];
  readonly next_cursor: string;
  readonly has_more: boolean;
  readonly delayed: boolean;
}
type Query = Readonly<Record<string, string | number | readonly string[]>>;
type Client = TestApp['development'];

const KEYS = newKeys();
let service: TestApp;
/** Another process on the same database. */
let other: TestApp;
/** A client that no other test uses. */
let client: Client;

beforeAll(async () => {
  service = await startTestApp(KEYS, { backgroundWork: true });
  other = await startTestApp({ ...KEYS, DATABASE_URL: service.database.url });
});
afterAll(async () => {
  await other.close();
  await service.close();
});
beforeEach(async () => {
  ({ development: client } = await service.anotherOrganization());
});

async function read(query: Query = {}, { as = client, at = service } = {}): Promise<Feed> {
  const { status, body } = await request(query, { as, at });
  expect([status, body]).toEqual([200, body]);
  return body as unknown as Feed;
}

function request(query: Query, { as = client, at = service } = {}) {
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((each) => [name, String(each)]),
  );
  return at.request(`${PATH}?${new URLSearchParams(parameters)}`, { as });
}

async function trigger(event = 'CARD_UPDATED', user = 'user-1', as = client): Promise<string> {
  const response = await service.request('/development/webhooks/trigger', {
    body: { event, external_user_id: user },
    as,
  });
  expect(response.status).toBe(200);
  return String(response.body['event_id']);
}

const idsOf = ({ data }: Feed): string[] => data.map(({ id }) => id);

interface Inserted {
  readonly body?: string;
  readonly at?: Date;
  readonly user?: string;
  readonly event?: string;
}

async function insert(
  { body = '{}', at = new Date(), user = 'user-1', event = 'CARD_UPDATED' }: Inserted = {},
  database: { query(text: string, values: unknown[]): Promise<unknown> } = service.database,
): Promise<string> {
  const id = randomUUID();
  await database.query(
    `INSERT INTO webhook_event (id, created_at, client_id, environment, event, external_user_id, body)
     VALUES ($1, $2, $3, 'development', $4, $5, $6)`,
    [id, at, client.clientId, event, user, Buffer.from(body)],
  );
  return id;
}

/** Begins a transaction that publishes. */
async function publishSlowly(): Promise<{ id: string; end: (how: 'COMMIT' | 'ROLLBACK') => Promise<void> }> {
  const connection = new pg.Client({ connectionString: service.database.url });
  await connection.connect();
  open.add(connection);
  await connection.query('BEGIN');
  const id = await insert({}, connection);
  return {
    id,
    async end(how) {
      open.delete(connection);
      await connection.query(how);
      await connection.end();
    },
  };
}

const open = new Set<pg.Client>();
afterEach(async () => {
  for (const connection of open) await connection.end();
  open.clear();
});

const waitingReaders = async (): Promise<number> =>
  (await service.database.query('SELECT FROM webhook_listener WHERE reads_feed')).length;

describe('GET /webhook-events', () => {
  it('returns the events of both environments to their clients, oldest first, as endpoints receive them', async () => {
    const { development, production } = await service.anotherOrganization();
    const ids = [
      await trigger('CARD_UPDATED', 'user-1', development),
      await trigger('AUTHENTICATED', 'user-1', development),
    ];
    const publisher = service.app.get(WebhookPublisher);
    const real = await publisher.publish(
      { ...production, environment: 'production' },
      exampleEvent('CARD_FAILED'),
    );
    const page = await read({}, { as: development });
    expect(page).toMatchObject({ has_more: false, delayed: false });
    expect(idsOf(page)).toEqual(ids);
    const [stored] = await service.database.query<{ body: Buffer }>(
      'SELECT body FROM webhook_event WHERE id = $1',
      [ids[0]],
    );
    expect(page.data[0]?.body).toBe(stored?.body.toString());
    expect(idsOf(await read({}, { as: production }))).toEqual([real]);
    expect(idsOf(await read())).toEqual([]);
    await expectUsualErrors(service, PATH, 'webhook_event');
  });

  it('continues after a page, in any process, also at the end', async () => {
    const ids = [await insert(), await insert(), await insert()];
    const first = await read({ limit: 2 });
    expect([idsOf(first), first.has_more]).toEqual([ids.slice(0, 2), true]);
    const second = await read({ limit: 2, cursor: first.next_cursor }, { at: other, as: client });
    expect([idsOf(second), second.has_more]).toEqual([ids.slice(2), false]);
    const empty = await read({ cursor: second.next_cursor });
    expect([idsOf(empty), empty.has_more]).toEqual([[], false]);
    ids.push(await insert());
    expect(idsOf(await read({ cursor: empty.next_cursor }))).toEqual(ids.slice(3));
    // Nothing moves the cursor but the reader.
    expect(idsOf(await read({ cursor: first.next_cursor }))).toEqual(ids.slice(2));
  });

  it('filters by name and user, and begins at a time', async () => {
    const since = new Date(Date.now() - 1_000);
    const before = await insert({ at: new Date(since.getTime() - DAY) });
    const [a, b, c] = [
      await insert({ event: 'CARD_FAILED' }),
      await insert({ event: 'AUTHENTICATED' }),
      await insert({ user: 'user-2' }),
    ];
    expect(idsOf(await read({ event: 'CARD_FAILED' }))).toEqual([a]);
    expect(idsOf(await read({ event: ['AUTHENTICATED', 'CARD_FAILED'] }))).toEqual([a, b]);
    expect(idsOf(await read({ external_user_id: 'user-2' }))).toEqual([c]);
    expect(idsOf(await read({ start: since.toISOString() }))).toEqual([a, b, c]);
    expect(idsOf(await read())).toEqual([before, a, b, c]);
    const future = await read({ start: new Date(Date.now() + DAY).toISOString() });
    expect(idsOf(future)).toEqual([]);
    const next = await insert();
    expect(idsOf(await read({ cursor: future.next_cursor, start: since.toISOString() }))).toEqual([next]);
  });

  it('ends a page with filters after the events that it has read, so that rare events cost no long query', async () => {
    await service.database.query(
      `INSERT INTO webhook_event (id, created_at, client_id, environment, event, external_user_id, body)
       SELECT gen_random_uuid(), now(), $1, 'development', 'CARD_UPDATED', 'user-1', '{}' FROM generate_series(1, 2001)`,
      [client.clientId],
    );
    const rare = await insert({ event: 'CARD_FAILED' });
    const first = await read({ event: 'CARD_FAILED' });
    expect([idsOf(first), first.has_more]).toEqual([[], true]);
    const second = await read({ event: 'CARD_FAILED', cursor: first.next_cursor });
    expect([idsOf(second), second.has_more]).toEqual([[rare], false]);
  });

  it('ends a page after 1 MiB of bodies', async () => {
    const body = JSON.stringify({ text: 'x'.repeat(262_000) });
    const ids = [];
    for (let count = 0; count < 9; count += 1) ids.push(await insert({ body }));
    const huge = await insert({ body: JSON.stringify({ text: 'x'.repeat(1_100_000) }) });
    const found: string[][] = [];
    for (let page: Feed | undefined; page?.has_more !== false; found.push(idsOf(page)))
      page = await read({ limit: 100, ...(page && { cursor: page.next_cursor }) });
    expect(found).toEqual([ids.slice(0, 4), ids.slice(4, 8), ids.slice(8), [huge]]);
  });

  it('says which events were erased between two pages', async () => {
    const [first] = [await trigger('CARD_UPDATED', 'user-1'), await trigger('CARD_UPDATED', 'user-2')];
    const last = await trigger('CARD_UPDATED', 'user-1');
    const page = await read({ limit: 1 });
    expect(idsOf(page)).toEqual([first]);
    await service.request('/external-users/erase', { body: { external_user_id: 'user-1' }, as: client });
    await finishErasures(service);
    const { data } = await read({ cursor: page.next_cursor });
    expect(data.find(({ id }) => id === last)).toEqual({
      id: last,
      event: 'CARD_UPDATED',
      created_at: expect.any(String),
      erased: true,
    });
    expect(JSON.stringify(data.filter(({ erased }) => erased))).not.toContain('user-1');
  });

  it('has no events that test an endpoint', async () => {
    await service.database.query(
      `INSERT INTO webhook_event (id, created_at, client_id, environment, event, body, is_test)
       VALUES (gen_random_uuid(), now(), $1, 'development', 'CARD_UPDATED', '{}', true)`,
      [client.clientId],
    );
    expect(idsOf(await read())).toEqual([]);
  });
});

describe('A cursor of the event feed', () => {
  it('is valid for its client and filters alone', async () => {
    await insert();
    const { next_cursor: cursor } = await read({ event: 'CARD_UPDATED' });
    const { development: stranger } = await service.anotherOrganization();
    expect(await request({ cursor, event: 'CARD_UPDATED' })).toMatchObject({ status: 200 });
    expect(await request({ cursor, event: ['CARD_UPDATED', 'CARD_UPDATED'] })).toMatchObject({ status: 200 });
    const others: Query[] = [
      { cursor },
      { cursor, event: 'CARD_FAILED' },
      { cursor, event: 'CARD_UPDATED', external_user_id: 'user-1' },
      { cursor: `${cursor}A`, event: 'CARD_UPDATED' },
      { cursor: cursor.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')), event: 'CARD_UPDATED' },
      { cursor: 'nonsense' },
    ];
    for (const query of others) expect(await request(query)).toMatchObject(INVALID_CURSOR);
    expect(await request({ cursor, event: 'CARD_UPDATED' }, { as: stranger })).toMatchObject(INVALID_CURSOR);
  });

  it('that is older than what is kept leads to the oldest event, with 410', async () => {
    const now = Date.now();
    await insert({ at: new Date(now - 30.2 * DAY) });
    const kept = [await insert({ at: new Date(now - 29 * DAY) }), await insert({ at: new Date(now - DAY) })];
    const oldest = await read({ limit: 1 });
    expect([idsOf(oldest), oldest.has_more]).toEqual([kept.slice(0, 1), true]);
    {
      using _clock = setClock(service, 3 * DAY);
      const { status, body } = await request({ cursor: oldest.next_cursor, limit: 1 });
      expect([status, body]).toEqual([
        410,
        {
          ...error(
            'INVALID_REQUEST',
            'EVENT_CURSOR_EXPIRED',
            'The cursor is older than the events that are kept, so events are missing. Continue with the oldest_cursor of this response.',
          ),
          oldest_cursor: expect.any(String),
        },
      ]);
      expect(idsOf(await read({ cursor: String(body['oldest_cursor']) }))).toEqual(kept.slice(1));
    }
  });

  it('of a client without new events stays valid, also when its last event is no longer kept', async () => {
    const id = await insert();
    let { next_cursor: cursor } = await read();
    for (const days of [20, 40]) {
      using _clock = setClock(service, days * DAY);
      ({ next_cursor: cursor } = await read({ cursor }));
    }
    await service.database.query('DELETE FROM webhook_event WHERE id = $1', [id]);
    using _clock = setClock(service, 60 * DAY);
    expect(idsOf(await read({ cursor }))).toEqual([]);
  });

  it('whose event a failover has lost repeats events rather than skips one', async () => {
    const first = await insert();
    const lost = await insert();
    const { next_cursor: cursor } = await read();
    // The new primary has never seen the event, and assigns its position again.
    await service.database.query('UPDATE webhook_event SET id = gen_random_uuid() WHERE id = $1', [lost]);
    const found = await read({ cursor });
    expect(idsOf(found)).toHaveLength(2);
    expect(idsOf(found)[0]).toBe(first);
    expect(idsOf(await read({ cursor: found.next_cursor }))).toEqual([]);
  });
});

describe('Parameters of the event feed', () => {
  it.each([
    'event=CARD_UPDATED&event=CARD_FAILED',
    'event[]=CARD_UPDATED&event[]=CARD_FAILED',
    'event%5B%5D=CARD_UPDATED&event%5B%5D=CARD_FAILED',
    'event=CARD_UPDATED,CARD_FAILED',
  ])('%s names two events', async (query) => {
    const { next_cursor: cursor } = await read({ event: ['CARD_UPDATED', 'CARD_FAILED'] });
    const { status } = await service.request(`${PATH}?${query}&cursor=${cursor}`, { as: client });
    expect(status).toBe(200);
  });

  it.each([
    ['limit=0', 'The limit field must be at least 1.'],
    ['limit=101', 'The limit field must not be greater than 100.'],
    ['wait=21', 'The wait field must not be greater than 20.'],
    ['wait=-1', 'The wait field must be at least 0.'],
    ['event=NONSENSE', undefined],
    ['event=CARD_UPDATED&event=', undefined],
    ['event=CARD_UPDATED,', undefined],
    ['event=CARD_UPDATED&event[]=CARD_FAILED', undefined],
    ['limit[]=1', undefined],
    ['wait=1&wait=2', undefined],
    ['start=yesterday', undefined],
    ['curser=a', undefined],
  ])('%s is refused', async (query, message) => {
    const { status, body } = await service.request(`${PATH}?${query}`, { as: client });
    expect([status, body]).toEqual([
      400,
      message === undefined
        ? { ...invalidField(''), error_message: expect.any(String) }
        : invalidField(message),
    ]);
  });
});

describe('Events that are published in transactions that commit out of order', () => {
  it('come in one order, and the page says that events wait', async () => {
    const before = await insert();
    const { next_cursor: cursor } = await read({ limit: 1 });
    const slow = await publishSlowly();
    const fast = await trigger();
    const first = await read();
    const none = await read({ cursor });
    expect([idsOf(none), none.delayed, none.has_more]).toEqual([[], true, false]);
    expect([idsOf(first), first.delayed, first.has_more]).toEqual([[before], true, false]);
    await slow.end('COMMIT');
    const second = await read({ cursor: first.next_cursor });
    expect([idsOf(second), second.delayed]).toEqual([[slow.id, fast], false]);
  });

  it('come although there is always another transaction that publishes', async () => {
    let slow = await publishSlowly();
    const expected = [slow.id];
    const found: string[] = [];
    let cursor: string | undefined;
    for (let round = 0; round < 5; round += 1) {
      const next = await publishSlowly();
      await slow.end('COMMIT');
      slow = next;
      expected.push(next.id);
      const page = await read(cursor === undefined ? {} : { cursor });
      found.push(...idsOf(page));
      cursor = page.next_cursor;
    }
    expect(found.length).toBeGreaterThan(0);
    await slow.end('COMMIT');
    found.push(...idsOf(await read({ cursor: String(cursor) })));
    expect(found).toEqual(expected);
  });
});

describe('Events that wait for a transaction that does not end', () => {
  const HOURS = 3_600;
  /** Returns for how many seconds events have waited, as this process reports it. */
  const overdueIn = async (at: TestApp): Promise<number> =>
    Number((await at.app.get(OverdueWork).read()).get('event_horizon')) / 1_000;
  const reports = (): string[] =>
    logLines()
      .map(({ message }) => String(message))
      .filter((message) => message.includes('wait for a transaction'));

  it('are overdue, and the log names the process once', async () => {
    const slow = await publishSlowly();
    expect((await read()).delayed).toBe(true);
    expect(reports()).toEqual([]);
    {
      using _later = moveClock(service, 2 * HOURS * 1_000);
      for (let round = 0; round < 2; round += 1) expect((await read()).delayed).toBe(true);
      expect(await overdueIn(service)).toBeGreaterThanOrEqual(2 * HOURS);
    }
    expect(reports()).toEqual([expect.stringMatching(/webhook_event: process \d+ of \w+ \(.*\)$/)]);
    await slow.end('COMMIT');
    expect(idsOf(await read())).toEqual([slow.id]);
    expect(await overdueIn(other)).toBe(0);
  });
});

describe('A request that waits for the next event', () => {
  it.each([
    ['the same process', () => service],
    ['another process', () => other],
  ])('gets it from %s as soon as it is published', async (_place, at) => {
    const waiting = read({ wait: 20 }, { at: at(), as: client });
    await eventually('it waits', async () => (await waitingReaders()) === 1);
    const id = await trigger();
    expect(idsOf(await waiting)).toEqual([id]);
    await eventually('it is gone', async () => (await waitingReaders()) === 0);
  });

  it('gets an event that was being published when the request came', async () => {
    const slow = await publishSlowly();
    const waiting = read({ wait: 20 });
    await eventually('it waits', async () => (await waitingReaders()) === 1);
    await slow.end('COMMIT');
    expect(idsOf(await waiting)).toEqual([slow.id]);
  });

  it('gets none if its key has been revoked or its secret restricted meanwhile', async () => {
    const keys = service.app.get(ApiKeysService);
    const key = { name: 'reader', scopes: ['webhook_events:read'] };
    const { stored, token: secret } = await keys.create(client.clientId, key);
    rememberSecret(secret);
    const reader = { ...client, secret };
    for (const [as, end] of [
      [reader, () => keys.revoke(stored.id)],
      [client, () => service.app.get(ApiClientsService).restrictSecret(client.clientId, 'signing')],
    ] as const) {
      const waiting = read({ wait: 20 }, { as, at: service });
      await eventually('it waits', async () => (await waitingReaders()) === 1);
      await end();
      await insert();
      const page = await waiting;
      expect([idsOf(page), page.has_more]).toEqual([[], false]);
      expect((await request({ cursor: page.next_cursor }, { as, at: service })).status).toBe(401);
      await service.database.query('DELETE FROM webhook_event');
    }
  });

  it('ends with an empty page after the time, or at once if the client has gone', async () => {
    const page = await read({ wait: 1 });
    expect([idsOf(page), page.has_more]).toEqual([[], false]);
    const gone = new AbortController();
    const response = fetch(`${service.baseUrl}${PATH}?wait=20`, {
      headers: { authorization: `Basic ${btoa(`${client.clientId}:${client.secret}`)}` },
      signal: gone.signal,
    });
    await eventually('it waits', async () => (await waitingReaders()) === 1);
    gone.abort();
    await expect(response).rejects.toThrow();
    await eventually('it is gone', async () => (await waitingReaders()) === 0);
  });

  it('is not woken by events of others, and wakes nobody else', async () => {
    const waiting = read({ wait: 3 });
    await eventually('it waits', async () => (await waitingReaders()) === 1);
    const { development: stranger } = await service.anotherOrganization();
    const statements = watchStatements(service);
    for (let count = 0; count < 5; count += 1) await trigger('CARD_UPDATED', 'user-1', stranger);
    expect(idsOf(await waiting)).toEqual([]);
    // Its own, before and after it was known to publishers.
    expect(statements.filter((text) => text.includes('scanned')).length).toBeLessThanOrEqual(2);
  });

  it('is refused if 50 of the client wait', async () => {
    const refused: number[] = [];
    const waiting = Array.from({ length: 55 }, async () => {
      const response = await request({ wait: 20 });
      if (response.status !== 200) refused.push(response.status);
      return response;
    });
    await eventually('50 wait', async () => refused.length === 5 && (await waitingReaders()) === 50);
    expect(refused).toEqual([429, 429, 429, 429, 429]);
    const id = await trigger();
    for (const { status, body } of await Promise.all(waiting))
      if (status === 200) expect(idsOf(body as unknown as Feed)).toEqual([id]);
  });

  it('holds no connection of the database, also if there are 500', async () => {
    const clients = [];
    for (let count = 0; count < 10; count += 1)
      clients.push((await service.anotherOrganization()).development);
    const waiting = clients.flatMap((as) =>
      Array.from({ length: 50 }, () => read({ wait: 20 }, { as, at: service })),
    );
    await eventually('all wait', async () => (await waitingReaders()) === 500);
    const [busy] = await service.database.query<{ connections: number }>(
      `SELECT count(*)::integer AS connections FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'`,
    );
    expect(busy?.connections).toBeLessThan(5);
    expect(idsOf(await read())).toEqual([]);
    const ids = await Promise.all(clients.map((as) => trigger('CARD_UPDATED', 'user-1', as)));
    for (const [index, page] of (await Promise.all(waiting)).entries())
      expect(idsOf(page)).toEqual([ids[Math.floor(index / 50)]]);
  });
});
