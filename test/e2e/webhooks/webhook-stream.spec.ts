import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { Webhook } from 'standardwebhooks';
import { OverdueWork } from '../../../src/infrastructure/database/index.js';
import { HOUR } from '../../../src/infrastructure/time/index.js';
import { exampleEvent, WebhookPublisher } from '../../../src/modules/webhooks/index.js';
import { moveClock } from '../../support/clock.js';
import { eventually } from '../../support/eventually.js';
import { watchStatements } from '../../support/database/statements.js';
import { logLines } from '../../support/logs/log-lines.js';
import { newKeys, error, invalidField, startTestApp, type TestApp } from '../../support/test-app.js';
import { startReceiver } from '../../support/webhooks/webhook-receiver.js';
import { expectUsualErrors } from '../../support/http/usual-errors.js';
import { WebhookStream } from '../../support/webhooks/webhook-stream.js';

const PATH = '/development/webhooks/stream';
const UNKNOWN_EVENT = invalidField(
  'The Last-Event-ID header must be an id of this stream whose event is still stored. Omit it to receive new events only.',
);
const TOO_MANY = 'This client has 5 listeners, which is the maximum. Stop one of them.';

const KEYS = newKeys();
let service: TestApp;
/** Another process on the same database. */
let other: TestApp;
const opened: WebhookStream[] = [];

beforeAll(async () => {
  service = await startTestApp({ ...KEYS, WEBHOOK_TARGETS: 'any' }, { backgroundWork: true });
  // class-validator has one container for a process, so the settings that requests are checked with must be the same.
  other = await startTestApp({ ...KEYS, WEBHOOK_TARGETS: 'any', DATABASE_URL: service.database.url });
});
afterAll(async () => {
  await other.close();
  await service.close();
});
afterEach(async () => {
  for (const stream of opened.splice(0)) stream.close();
  await eventually(
    'the listeners are gone',
    async () => (await service.database.query('SELECT FROM webhook_listener')).length === 0,
  );
});

async function listen(lastEventId?: string, { as = service.development, at = service } = {}) {
  const stream = await WebhookStream.open(at.baseUrl, as, lastEventId);
  opened.push(stream);
  return stream;
}

async function trigger(event = 'CARD_UPDATED', as = service.development, at = service): Promise<string> {
  const response = await at.request('/development/webhooks/trigger', { body: { event }, as });
  expect(response.status).toBe(200);
  return String(response.body['event_id']);
}

/** Publishes an event in a transaction that commits when the returned function is called. */
async function publishSlowly(): Promise<{ id: string; end: (how: 'COMMIT' | 'ROLLBACK') => Promise<void> }> {
  const connection = new pg.Client({ connectionString: service.database.url });
  await connection.connect();
  const id = randomUUID();
  await connection.query('BEGIN');
  await insertEvent(connection, id);
  return {
    id,
    async end(how) {
      await connection.query(how);
      await connection.end();
    },
  };
}

async function insertEvent(connection: pg.Client, id: string): Promise<void> {
  await connection.query(
    `INSERT INTO webhook_event (id, created_at, client_id, environment, event, body)
     VALUES ($1, now(), $2, 'development', 'MERCHANT_STATUS_UPDATE', '{}')`,
    [id, service.development.clientId],
  );
}

describe('GET /development/webhooks/stream', () => {
  it('sends each event exactly as an endpoint receives it', async () => {
    const receiver = await startReceiver();
    const endpoint = await service.request('/webhook-endpoints/create', {
      body: { environment: 'development', url: receiver.url },
      login: await service.login(),
    });
    const stream = await listen();
    expect(Object.fromEntries(stream.response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-request-id': expect.any(String),
    });
    const id = await trigger();
    const [streamed] = await stream.arrived(1);
    const [delivered] = await receiver.arrived(1);
    await receiver.close();
    await service.request(`/webhook-endpoints/${String(endpoint.body['id'])}`, {
      method: 'DELETE',
      login: await service.login(),
    });

    expect(streamed).toMatchObject({ id, headers: { 'webhook-id': id } });
    expect(streamed?.body.equals(delivered?.body ?? Buffer.alloc(0))).toBe(true);
    const {
      'webhook-timestamp': time,
      'webhook-signature': _signature,
      ...headers
    } = streamed?.headers ?? {};
    const lowerCase = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    expect(delivered?.headers).toMatchObject(lowerCase);
    expect(Math.abs(Number(time) - Number(delivered?.headers['webhook-timestamp']))).toBeLessThanOrEqual(2);

    const { secret } = service.development;
    const webhook = new Webhook(Buffer.from(secret).toString('base64'));
    expect(webhook.verify(streamed!.body.toString(), streamed!.headers)).toMatchObject({
      event: 'CARD_UPDATED',
    });
    const { session_id } = JSON.parse(streamed!.body.toString());
    const signed = `Content-Length|${streamed?.body.length}|Content-Type|application/json|Encryption-Type|HMAC-SHA256|event|CARD_UPDATED|session_id|${session_id}`;
    expect(headers['Service-Signature']).toBe(createHmac('sha256', secret).update(signed).digest('base64'));
  });

  it('reaches every listener of the client, in every process, and no other client', async () => {
    const stranger = await service.anotherOrganization();
    const streams = [await listen(), await listen(undefined, { at: other })];
    const foreign = await listen(undefined, { as: stranger.development });
    const ids = [await trigger(), await trigger('CARD_FAILED', service.development, other)];
    await service.app
      .get(WebhookPublisher)
      .publish({ ...service.production, environment: 'production' }, exampleEvent('CARD_UPDATED'));
    const theirs = await trigger('AUTHENTICATED', stranger.development);
    await foreign.arrived(1);
    for (const stream of streams) {
      await stream.arrived(2);
      expect(stream.ids).toEqual(ids);
    }
    expect(foreign.ids).toEqual([theirs]);
  });

  it('does not send events that test an endpoint', async () => {
    const receiver = await startReceiver();
    const login = await service.login();
    const body = { environment: 'development', url: receiver.url };
    const { id } = (await service.request('/webhook-endpoints/create', { body, login })).body;
    const stream = await listen();
    const test = { body: { event: 'CARD_UPDATED' }, login };
    expect((await service.request(`/webhook-endpoints/${String(id)}/test`, test)).status).toBe(200);
    await service.request(`/webhook-endpoints/${String(id)}`, { method: 'DELETE', login });
    await receiver.close();
    const triggered = await trigger();
    await stream.arrived(1);
    expect(stream.ids).toEqual([triggered]);
  });

  it('accepts only development credentials', async () => {
    const { status, body } = await service.request(PATH, { as: service.production });
    expect([status, body]).toEqual([
      403,
      error('INVALID_REQUEST', 'NO_ACCESS', 'The stream of webhooks requires development credentials.'),
    ]);
    expect((await service.request(PATH)).status).toBe(401);
  });

  it('responds to HEAD without opening a stream', async () => {
    const { status, headers } = await service.request(PATH, { method: 'HEAD', as: service.development });
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  });

  it('appears in the request log and the service log when it begins', async () => {
    const stream = await listen();
    const [entry] = await service.database.query<{ status_code: number; latency_ms: number }>(
      'SELECT status_code, latency_ms FROM request_log WHERE path = $1 ORDER BY id DESC LIMIT 1',
      [PATH],
    );
    expect(entry?.status_code).toBe(200);
    const requestId = stream.response.headers.get('x-request-id');
    const lines = () => logLines().filter((line) => line['request_id'] === requestId);
    expect(lines()).toHaveLength(1);
    stream.close();
    await pause(100);
    expect(lines()).toHaveLength(1);
  });
});

describe('Last-Event-ID', () => {
  it('continues after the event without a gap, at any process', async () => {
    const first = await listen();
    const ids = [await trigger(), await trigger(), await trigger()];
    await first.arrived(3);
    first.close();
    ids.push(await trigger(), await trigger());
    const second = await listen(ids[1], { at: other });
    await second.arrived(3);
    ids.push(await trigger());
    await second.arrived(4);
    expect(second.ids).toEqual(ids.slice(2));
  });

  it('continues a stream that was interrupted before its first event', async () => {
    const first = await listen();
    expect(first.lastEventId).toMatch(/^start-\d+$/);
    first.close();
    const id = await trigger();
    const second = await listen(first.lastEventId);
    await second.arrived(1);
    expect(second.ids).toEqual([id]);
  });

  it('must be an id of this client’s stream', async () => {
    const stranger = await service.anotherOrganization();
    const theirs = await trigger('CARD_UPDATED', stranger.development);
    for (const id of [theirs, randomUUID(), 'nonsense', '', 'start-', 'start-1e3', '\u{e9}']) {
      const { status, body } = await service.request(PATH, {
        as: service.development,
        headers: { 'last-event-id': id },
      });
      expect([id, status, body]).toEqual([id, 400, UNKNOWN_EVENT]);
    }
  });
});

describe('Events that commit out of order', () => {
  it('are sent in one order, which a resumed stream continues', async () => {
    const first = await listen();
    const slow = await publishSlowly();
    const fast = await trigger();
    await pause(300);
    // Otherwise, a stream that resumes after the fast event would never send the slow one.
    expect(first.ids).toEqual([]);
    const resumed = await listen(first.lastEventId, { at: other });
    await slow.end('COMMIT');
    for (const stream of [first, resumed]) {
      await stream.arrived(2);
      expect(stream.ids).toEqual([slow.id, fast]);
    }
  });

  it('are overdue since the transaction began that they wait for, in a process that has just started', async () => {
    const slow = await publishSlowly();
    using _later = moveClock(other, 2 * HOUR);
    const overdue = await other.app.get(OverdueWork).read();
    expect(overdue.get('event_horizon')).toBeGreaterThanOrEqual(2 * HOUR);
    await slow.end('ROLLBACK');
  });

  it('do not wait for transactions that publish nothing, nor for those that are rolled back', async () => {
    const stream = await listen();
    const unrelated = new pg.Client({ connectionString: service.database.url });
    await unrelated.connect();
    await unrelated.query('BEGIN; SELECT pg_current_xact_id(); SELECT FROM webhook_event');
    const first = await trigger();
    await stream.arrived(1);
    await unrelated.end();
    const aborted = await publishSlowly();
    const second = await trigger();
    await aborted.end('ROLLBACK');
    await stream.arrived(2);
    expect(stream.ids).toEqual([first, second]);
  });

  it('arrive exactly once at listeners that reconnect all the time', async () => {
    // Before the first event: the stream does not send those that were published before it began.
    const start = (await listen()).lastEventId;
    const published = new Set<string>();
    let isPublishing = true;
    const publishers = Array.from({ length: 6 }, async () => {
      const connection = new pg.Client({ connectionString: service.database.url });
      await connection.connect();
      for (let round = 0; round < 25; round += 1) {
        const ids = Array.from({ length: 1 + Math.floor(Math.random() * 3) }, () => randomUUID());
        await connection.query('BEGIN');
        for (const id of ids) {
          await insertEvent(connection, id);
          await pause(Math.random() * 15);
        }
        const isCommitted = Math.random() < 0.8;
        await connection.query(isCommitted ? 'COMMIT' : 'ROLLBACK');
        if (isCommitted) for (const id of ids) published.add(id);
      }
      await connection.end();
    });
    const reconnecting = async (at: TestApp): Promise<string[]> => {
      const received: string[] = [];
      let lastEventId = start;
      while (isPublishing || received.length < published.size) {
        const stream = await listen(lastEventId, { at });
        await eventually(
          'some events arrive',
          () =>
            stream.received.length > 3 ||
            (!isPublishing && received.length + stream.received.length >= published.size),
        );
        stream.close();
        received.push(...stream.ids);
        lastEventId = stream.lastEventId;
      }
      return received;
    };
    const finished = Promise.all(publishers).then(() => (isPublishing = false));
    const [here, there] = await Promise.all([reconnecting(service), reconnecting(other)]);
    await finished;
    expect(here).toHaveLength(published.size);
    expect(new Set(here)).toEqual(published);
    expect(there).toEqual(here);
  });
});

describe('The limit of 5 listeners', () => {
  it('is exact under concurrent requests to several processes, and per client', async () => {
    const attempts = await Promise.allSettled(
      Array.from({ length: 24 }, (_, index) => listen(undefined, { at: [service, other][index % 2]! })),
    );
    const refused = attempts.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
    expect(refused).toHaveLength(19);
    for (const { reason } of refused) expect(String(reason)).toContain('429');

    const { status, body, headers } = await service.request(PATH, { as: service.development });
    expect([status, body]).toEqual([
      429,
      { ...error('RATE_LIMIT_ERROR', 'TOO_MANY_REQUESTS', TOO_MANY), retry_after: 5 },
    ]);
    expect(headers.get('retry-after')).toBe('5');
    const stranger = await service.anotherOrganization();
    await listen(undefined, { as: stranger.development });

    opened[0]?.close();
    await eventually('another listener fits', () => listen().then(Boolean, () => false));
  });

  it('does not count listeners of a process that has ended', async () => {
    await service.database.query(
      `INSERT INTO webhook_listener (id, client_id, process)
       SELECT gen_random_uuid(), $1, 4711 FROM generate_series(1, 5)`,
      [service.development.clientId],
    );
    await listen();
  });

  const listenAtMost = async (): Promise<void> => {
    for (let count = 0; count < 5; count += 1) await listen();
  };

  /** Ends the streams while deleting a listener fails with this SQLSTATE, until that is noticed. */
  async function closeWhileDeletionsFail(code: string, isNoticed: () => boolean): Promise<void> {
    await service.database.query(
      `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql
           AS $$ BEGIN RAISE EXCEPTION 'undeletable' USING ERRCODE = '${code}'; END $$;
       CREATE TRIGGER fail BEFORE DELETE ON webhook_listener FOR EACH ROW EXECUTE FUNCTION fail();`,
    );
    try {
      for (const stream of opened.splice(0)) stream.close();
      await eventually('the deletions fail', isNoticed);
    } finally {
      await service.database.query('DROP TRIGGER fail ON webhook_listener; DROP FUNCTION fail();');
    }
  }

  it('does not count listeners of this process that could not be deleted when they ended', async () => {
    await listenAtMost();
    const failures = (): number =>
      logLines().filter(
        ({ message }) => message === 'The count or state after an attempt or a request could not be updated',
      ).length;
    const before = failures();
    await closeWhileDeletionsFail('P0001', () => failures() === before + 5);
    await listenAtMost();
    await expect(listen()).rejects.toThrow('429');
  });

  it('counts listeners that could not be deleted in no process once the database works again', async () => {
    await listenAtMost();
    const statements = watchStatements(service);
    const deletions = (): number =>
      statements.filter((text) => text.startsWith('DELETE FROM webhook_listener WHERE id')).length;
    // One of them is repeated: the code says that the statement was canceled.
    await closeWhileDeletionsFail('57014', () => deletions() > 5);
    await eventually('a listener of another process fits', () =>
      listen(undefined, { at: other }).then(Boolean, () => false),
    );
  });
});

describe('A stream does not begin', () => {
  it('without credentials, without its table, and without the database', async () => {
    await using separate = await startTestApp();

    await expectUsualErrors(separate, PATH, 'webhook_listener');
  });
});

describe('A stream ends', () => {
  it('at shutdown, so that the process does not wait for it', async () => {
    const third = await startTestApp({ ...KEYS, DATABASE_URL: service.database.url });
    const stream = await listen(undefined, { at: third });
    await third.close();
    expect(stream.hasEnded).toBe(true);
    expect(stream.text.endsWith('\n\n')).toBe(true);
  });

  it('when the database is lost, and can be resumed afterwards', async () => {
    const separate = await startTestApp();
    try {
      const stream = await listen(undefined, { at: separate, as: separate.development });
      await separate.database.cutOff();
      await eventually('the stream ends', () => stream.hasEnded);
      await separate.database.reconnect();
      const id = await eventually('an event is published', () =>
        trigger('CARD_UPDATED', separate.development, separate).catch(() => undefined),
      );
      // The stream may end once more, when the connection for notifications is back.
      await eventually('the event arrives', async () => {
        const resumed = await listen(stream.lastEventId, { at: separate, as: separate.development }).catch(
          () => undefined,
        );
        await eventually(
          'the event arrives or the stream ends',
          () => resumed?.ids.length || resumed?.hasEnded,
        );
        return resumed?.ids.includes(id);
      });
    } finally {
      opened.splice(0);
      await separate.close();
    }
  });
});
