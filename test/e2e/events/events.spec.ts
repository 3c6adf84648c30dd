import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import pg from 'pg';
import { PartitionRotation } from '../../../src/infrastructure/database/index.js';
import { DAY } from '../../../src/infrastructure/time/index.js';
import { EVENT_NAMES, type AnyEvent } from '../../../src/infrastructure/event-catalog/index.js';
import { EventsService } from '../../../src/modules/events/events.service.js';
import { WebhookPublisher } from '../../../src/modules/webhooks/index.js';
import { newEvent } from '../../../src/modules/webhooks/events/event-body.js';
import { PublishedEventsRepository } from '../../../src/modules/webhooks/events/published-events.repository.js';
import { PublicationsBatch } from '../../../src/modules/webhooks/queue/publications.batch.js';
import { moveClock } from '../../support/clock.js';
import { eventually } from '../../support/eventually.js';
import { UNKNOWN_ID } from '../../support/documents/operations.js';
import { issueServiceToken } from '../../support/logins/service-tokens.js';
import { error, invalidField, startTestApp, useTestApp, type TestResponse } from '../../support/test-app.js';
import { expectUsualErrors } from '../../support/http/usual-errors.js';
import { useReceiver } from '../../support/webhooks/webhook-receiver.js';
import { watchStatements } from '../../support/database/statements.js';
import { whileInsertsFail } from '../../support/database/failing-inserts.js';

const INVALID_EVENT = `The selected event is invalid. Allowed values: ${EVENT_NAMES.join(', ')}.`;

const OF_LOGIN = 'when the event is ACCOUNT_LOGIN_REQUIRED.';
const CONCURRENT = 20;
const CLIENT_NOT_FOUND = error('INVALID_REQUEST', 'NOT_FOUND', 'There is no API client with this client_id.');
const SESSION_NOT_FOUND = error('SESSION_ERROR', 'SESSION_NOT_FOUND', 'There is no session with this ID.');
const MERCHANT_NOT_FOUND = error('INVALID_REQUEST', 'NOT_FOUND', 'There is no merchant with this id.');
const KEY_REUSED = error(
  'INVALID_REQUEST',
  'IDEMPOTENCY_KEY_REUSED',
  'The idempotency key was used for a request with different content. Use another key.',
);

type Event = Readonly<Record<string, unknown>>;

interface Result {
  readonly event_id: string | null;
  readonly duplicate: boolean;
  readonly error: Record<string, string> | null;
}

const service = useTestApp({ WEBHOOK_TARGETS: 'any' }, { backgroundWork: true });
const receiver = useReceiver();
let token: string;
let clientId: string;

beforeAll(async () => {
  ({ token } = await issueServiceToken(service, ['events:publish']));
  ({ clientId } = service.development);
  for (const path of ['/first', '/second']) {
    const { status } = await service.request('/webhook-endpoints/create', {
      body: { environment: 'development', url: `${receiver.url}${path}` },
      login: await service.login('owner'),
    });
    expect(status).toBe(200);
  }
});

const publish = (event: unknown): Promise<TestResponse> => service.request('/events', { body: event, token });

async function publishBatch(events: readonly unknown[]): Promise<Result[]> {
  const { status, body } = await service.request<{ results: Result[] }>('/events/batch', {
    body: { events },
    token,
  });
  expect(status).toBe(200);
  return body.results;
}

async function published(event: unknown): Promise<string> {
  const { status, body } = await publish(event);
  expect([status, body['duplicate']]).toEqual([200, false]);
  return String(body['event_id']);
}

async function createSession(user: string, metadata: object = {}, as = service.development): Promise<string> {
  const { body } = await service.request('/session/create', {
    body: { type: 'link', external_user_id: user, metadata },
    as,
  });
  return String(body['session']);
}

/** Returns the payload that the endpoints get. */
async function payloadOf(eventId: string): Promise<Event> {
  const [row] = await service.database.query<{ body: Buffer }>(
    'SELECT body FROM webhook_event WHERE id = $1',
    [eventId],
  );
  return JSON.parse(String(row?.body)) as Event;
}

const numberOfEvents = async (): Promise<number> =>
  Number((await service.database.query<{ count: string }>('SELECT count(*) FROM webhook_event'))[0]?.count);

const loginRequired = (more: Event = {}): Event => ({
  client_id: clientId,
  event: 'ACCOUNT_LOGIN_REQUIRED',
  external_user_id: 'user-1',
  merchant_id: 16,
  ...more,
});
const statusUpdate = (more: Event = {}): Event => ({
  client_id: clientId,
  event: 'MERCHANT_STATUS_UPDATE',
  merchant_id: 16,
  data: { type: 'link', status: 'DOWN' },
  ...more,
});
const cardUpdated = (session_id: unknown, more: Event = {}): Event => ({
  client_id: clientId,
  event: 'CARD_UPDATED',
  external_user_id: 'user-1',
  session_id,
  task_id: 7,
  merchant_id: 16,
  data: { card_id: 'card-1' },
  ...more,
});

describe('POST /events', () => {
  it('delivers the event to all endpoints of the client', async () => {
    const id = await published(loginRequired());
    for (const path of ['/first', '/second']) {
      const [arrival] = await receiver.arrived(1, path);
      expect(arrival?.headers['webhook-id']).toBe(id);
      expect(arrival?.event).toEqual({
        event: 'ACCOUNT_LOGIN_REQUIRED',
        external_user_id: 'user-1',
        merchant: { id: 16, name: 'Netflix' },
        data: {},
        timestamp: expect.any(Number),
      });
    }
  });

  it('includes the metadata of the session, unless the request has its own', async () => {
    const session = await createSession('user-1', { order: '4711' });
    const dataOf = async (more: Event): Promise<unknown> =>
      (await payloadOf(await published(cardUpdated(session, more))))['data'];
    expect(await dataOf({})).toEqual({ card_id: 'card-1', metadata: { order: '4711' } });
    expect(await dataOf({ metadata: { order: '1' } })).toEqual({
      card_id: 'card-1',
      metadata: { order: '1' },
    });
    expect(await dataOf({ metadata: {} })).toEqual({ card_id: 'card-1' });
    expect(await dataOf({ data: { card_id: 'card-1', unknown: 1 }, metadata: {} })).toEqual({
      card_id: 'card-1',
    });
    const payload = await payloadOf(
      await published(cardUpdated(session.toUpperCase(), { client_id: clientId.toUpperCase() })),
    );
    expect(payload).toMatchObject({ session_id: session, task_id: 7, external_user_id: 'user-1' });
  });

  it('sends and stores the metadata of the session with the same bytes as that of a request', async () => {
    const metadata = { order: '"4711"\n\u0001\\', 'größe 🙂': '},"timestamp":1', '': '' };
    const session = await createSession('user-1', metadata);
    const timestamp = Date.now();
    for (const event of [
      cardUpdated(session, { timestamp }),
      { ...cardUpdated(session, { timestamp }), event: 'AUTHENTICATED', data: { card_id: null } },
    ]) {
      const ids = [await published(event), await published({ ...event, metadata })];
      const stored = await Promise.all(ids.map(payloadOf));
      expect(stored[0]?.['data']).toMatchObject({ metadata });
      const sent = await eventually('both are sent', () => {
        const arrivals = ids.map((id) =>
          receiver.arrivals.find(({ headers }) => headers['webhook-id'] === id),
        );
        return arrivals.every((arrival) => arrival !== undefined) && arrivals;
      });
      const [own, ofRequest] = sent.map((arrival) => arrival?.body.toString());
      // Both have the order in which PostgreSQL stores keys.
      expect(JSON.parse(String(own))).toEqual(JSON.parse(String(ofRequest)));
      expect(own).toHaveLength(String(ofRequest).length);
      expect(stored).toEqual([JSON.parse(String(own)), JSON.parse(String(ofRequest))]);
    }
  });

  it('puts the metadata of the session into data without other fields', async () => {
    const sessionId = await createSession('user-1', { order: '4711' });
    const [result] = await service.app.get(WebhookPublisher).publishAll([
      {
        client: { clientId, environment: 'development' },
        event: {
          event: 'CARD_UPDATED',
          sessionId,
          externalUserId: 'user-1',
          data: {},
        } as unknown as AnyEvent,
        session: 'attached',
      },
    ]);
    const { eventId } = result as { eventId: string };
    expect((await payloadOf(eventId))['data']).toEqual({ metadata: { order: '4711' } });
  });

  it('publishes an event, repeats it and refuses it with one statement each', async () => {
    const session = await createSession('user-1', { order: '4711' });
    const event = cardUpdated(session, { idempotency_key: randomUUID() });
    await published(cardUpdated(session));
    const statements = watchStatements(service);
    for (const [request, status] of [
      [event, 200],
      [event, 200],
      [{ ...event, task_id: 8 }, 409],
      [cardUpdated(UNKNOWN_ID), 404],
    ] as const) {
      statements.length = 0;
      expect((await publish(request)).status).toBe(status);
      // The background work runs at the same time.
      const ofPublishing = statements.filter((text) =>
        /^\s*WITH request|^SELECT [^(]*FROM (?:session|webhook_event_key|merchant)\b/.test(text),
      );
      expect(ofPublishing).toHaveLength(1);
    }
  });

  it.each<[string, Event, string]>([
    ['no client', { client_id: undefined }, 'The client id field is required.'],
    ['an invalid client', { client_id: 'me' }, 'The client id field must be a UUID.'],
    ['an unknown event', { event: 'UNKNOWN' }, INVALID_EVENT],
    ['no user', { external_user_id: null }, `The external user id field is required ${OF_LOGIN}`],
    ['no merchant', { merchant_id: undefined }, `The merchant id field is required ${OF_LOGIN}`],
    [
      'a session that the event lacks',
      { session_id: UNKNOWN_ID },
      `The session id field must not be present ${OF_LOGIN}`,
    ],
    ['a task that the event lacks', { task_id: 7 }, `The task id field must not be present ${OF_LOGIN}`],
    ['metadata that the event lacks', { metadata: {} }, `The metadata field must not be present ${OF_LOGIN}`],
    [
      'no task',
      cardUpdatedWithout('task_id'),
      'The task id field is required when the event is CARD_UPDATED.',
    ],
    ['no data', cardUpdatedWithout('data'), 'The data.card id field is required.'],
    ['data that is no object', { data: [] }, 'The data field must be an object.'],
    [
      'invalid metadata',
      { ...cardUpdatedWithout(), metadata: { order: 4711 } },
      'The metadata.order field must be a string.',
    ],
    ['a blank idempotency key', { idempotency_key: ' ' }, 'The idempotency key field must not be blank.'],
    [
      'a key that is too long',
      { idempotency_key: 'x'.repeat(256) },
      'The idempotency key field must not be greater than 255 characters.',
    ],
  ])('rejects %s', async (_what, change, message) => {
    const { status, body } = await publish(loginRequired(change));
    expect([status, body]).toEqual([400, invalidField(message)]);
  });

  it('rejects a client, session or merchant that does not exist', async () => {
    const own = await createSession('user-1');
    const ofOtherUser = await createSession('user-2');
    const ofOtherClient = await createSession('user-1', {}, service.production);
    for (const [event, expected] of [
      [loginRequired({ client_id: UNKNOWN_ID }), CLIENT_NOT_FOUND],
      [loginRequired({ merchant_id: 999_999 }), MERCHANT_NOT_FOUND],
      [cardUpdated(UNKNOWN_ID), SESSION_NOT_FOUND],
      [cardUpdated(ofOtherUser), SESSION_NOT_FOUND],
      [cardUpdated(ofOtherClient), SESSION_NOT_FOUND],
    ]) {
      const { status, body } = await publish(event);
      expect([status, body]).toEqual([404, expected]);
    }
    await published(cardUpdated(own));
  });

  it('rejects detected accounts with merchants that do not exist', async () => {
    const detected = (id: number): Event => ({
      client_id: clientId,
      event: 'NEW_DETECTED_ACCOUNTS_AVAILABLE',
      external_user_id: 'user-1',
      data: { detected_accounts: [19, id].map((each) => ({ id: each, name: 'DoorDash' })) },
    });
    const expected = error(
      'INVALID_REQUEST',
      'NOT_FOUND',
      'The merchant in data.detected accounts[1] does not exist.',
    );
    for (const id of [999_999, 0, -1, Number.MAX_SAFE_INTEGER]) {
      const { status, body } = await publish(detected(id));
      expect([status, body]).toEqual([404, expected]);
    }
    await published(detected(16));
  });

  it('ignores unknown fields, but not misspelled ones', async () => {
    await published(loginRequired({ source: 'a test' }));
    expect((await publish(loginRequired({ idempotencyKey: 'a' }))).status).toBe(400);
  });
});

describe('An idempotency key', () => {
  it('publishes the event once for 20 concurrent requests', async () => {
    const event = loginRequired({ idempotency_key: randomUUID() });
    const before = await numberOfEvents();
    const responses = await Promise.all(Array.from({ length: CONCURRENT }, () => publish(event)));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(responses.map(({ body }) => body['event_id'])).size).toBe(1);
    expect(responses.filter(({ body }) => body['duplicate'] === false)).toHaveLength(1);
    expect(await numberOfEvents()).toBe(before + 1);
  });

  it('publishes each event once for 20 concurrent batches with the same keys in different orders', async () => {
    const events = Array.from({ length: 50 }, () => loginRequired({ idempotency_key: randomUUID() }));
    const before = await numberOfEvents();
    const batches = await Promise.all(
      Array.from({ length: CONCURRENT }, (_, index) =>
        publishBatch(index % 2 === 0 ? events : events.toReversed()),
      ),
    );
    const results = batches.flat();
    expect(results.filter(({ error: problem }) => problem !== null)).toEqual([]);
    expect(results.filter(({ duplicate }) => !duplicate)).toHaveLength(events.length);
    expect(new Set(results.map(({ event_id }) => event_id)).size).toBe(events.length);
    expect(await numberOfEvents()).toBe(before + events.length);
  });

  it('is compared with the content, whatever the order of its fields', async () => {
    const idempotency_key = randomUUID();
    const event = statusUpdate({ idempotency_key });
    const event_id = await published(event);
    const reordered = Object.fromEntries(Object.entries(event).toReversed());
    const sameData = { ...reordered, data: { status: 'DOWN', type: 'link' }, session_id: null };
    expect(await publish(sameData)).toMatchObject({ status: 200, body: { event_id, duplicate: true } });
    for (const different of [
      statusUpdate({ idempotency_key, merchant_id: 19 }),
      statusUpdate({ idempotency_key, data: { type: 'link', status: 'UP' } }),
      loginRequired({ idempotency_key }),
    ]) {
      const { status, body } = await publish(different);
      expect([status, body]).toEqual([409, KEY_REUSED]);
    }
  });

  it('does not depend on the spelling of IDs, empty data, the time or fields that are ignored', async () => {
    const session = await createSession('user-1');
    const [key, other] = [randomUUID(), randomUUID()];
    const login = await published(loginRequired({ idempotency_key: key }));
    const card = await published(cardUpdated(session, { idempotency_key: other }));
    for (const [event_id, same] of [
      [login, loginRequired({ idempotency_key: key, data: {} })],
      [login, loginRequired({ idempotency_key: key, timestamp: Date.now() })],
      [login, loginRequired({ idempotency_key: key, data: { unknown: 1 }, source: 'a test' })],
      [login, loginRequired({ idempotency_key: key, client_id: clientId.toUpperCase() })],
      [card, cardUpdated(session.toUpperCase(), { idempotency_key: other })],
    ] as const)
      expect(await publish(same)).toMatchObject({ status: 200, body: { event_id, duplicate: true } });
  });

  it('belongs to one client', async () => {
    const event = statusUpdate({ idempotency_key: 'shared' });
    await published(event);
    await published({ ...event, client_id: service.production.clientId });
  });

  it('is compared within a batch too, and the first event counts', async () => {
    const idempotency_key = randomUUID();
    const [first, conflict, duplicate] = await publishBatch([
      loginRequired({ idempotency_key }),
      statusUpdate({ idempotency_key }),
      loginRequired({ idempotency_key }),
    ]);
    expect(first).toMatchObject({ duplicate: false, error: null });
    expect(conflict).toEqual({ event_id: null, duplicate: false, error: KEY_REUSED });
    expect(duplicate).toEqual({ event_id: first?.event_id, duplicate: true, error: null });
  });

  it('is kept as long as the event', async () => {
    const event = loginRequired({ idempotency_key: randomUUID() });
    const event_id = await published(event);
    const rotateIn = async (days: number): Promise<void> => {
      using _clock = moveClock(service, days * DAY);
      await service.app.get(PartitionRotation).run();
    };
    await rotateIn(30);
    expect((await publish(event)).body).toEqual({ event_id, duplicate: true });
    await rotateIn(32);
    const left = await service.database.query('SELECT 1 FROM webhook_event_key');
    expect(left).toEqual([]);
    expect((await publish(event)).body).toMatchObject({ duplicate: false });
  });
});

describe('The Idempotency-Key header', () => {
  const publishWith = (key: string, event: Event): Promise<TestResponse> =>
    service.request('/events', { body: event, headers: { 'idempotency-key': key }, token });

  it('is another way to send the key, with or without quotation marks', async () => {
    const key = randomUUID();
    const { status, body } = await publishWith(key, loginRequired());
    expect([status, body['duplicate']]).toEqual([200, false]);
    const repeated = { event_id: body['event_id'], duplicate: true };
    for (const response of await Promise.all([
      publishWith(key, loginRequired()),
      publishWith(`"${key}"`, loginRequired()),
      publishWith(key, loginRequired({ idempotency_key: key })),
      publish(loginRequired({ idempotency_key: key })),
    ]))
      expect([response.status, response.body]).toEqual([200, repeated]);
    const other = await publishWith(key, statusUpdate());
    expect([other.status, other.body]).toEqual([409, KEY_REUSED]);
  });

  it('must not differ from the field', async () => {
    const before = await numberOfEvents();
    const { status, body } = await publishWith('a', loginRequired({ idempotency_key: 'b' }));
    const message =
      'The Idempotency-Key header and the idempotency key field must not differ. Send one of them.';
    expect([status, body]).toEqual([400, invalidField(message)]);
    expect(await numberOfEvents()).toBe(before);
  });

  it('must be one key', async () => {
    const message = 'The Idempotency-Key header must be one key of 1 to 255 visible ASCII characters.';
    for (const key of [' ', 'a, b', '""', 'x'.repeat(256)]) {
      const { status, body } = await publishWith(key, loginRequired());
      expect([status, body]).toEqual([400, invalidField(message)]);
    }
  });

  it('is refused for a batch, whose events have keys of their own', async () => {
    const before = await numberOfEvents();
    const headers = { 'idempotency-key': 'a' };
    const body = { events: [loginRequired()] };
    const response = await service.request('/events/batch', { body, headers, token });
    const message = 'A batch has no Idempotency-Key header. Send an idempotency key with each event.';
    expect([response.status, response.body]).toEqual([400, invalidField(message)]);
    expect(await numberOfEvents()).toBe(before);
  });
});

describe('GET /events/{id}', () => {
  interface Status {
    readonly deliveries: readonly Record<string, unknown>[];
  }
  const statusOf = async (id: string): Promise<Status> => {
    const { status, body } = await service.request<Status>(`/events/${id}`, { token });
    expect(status).toBe(200);
    return body;
  };
  const settled = (id: string, states: readonly string[]): Promise<Status> =>
    eventually('the attempts have ended', async () => {
      const status = await statusOf(id);
      const found = status.deliveries.map(({ state, attempts }) => `${String(state)} ${String(attempts)}`);
      return found.toSorted().join() === states.toSorted().join() ? status : undefined;
    });

  it('shows the event and its deliveries', async () => {
    const session = await createSession('user-1');
    const id = await published(cardUpdated(session));
    const { deliveries, ...event } = await settled(id, ['succeeded 1', 'succeeded 1']);
    expect(event).toEqual({
      id,
      client_id: clientId,
      environment: 'development',
      event: 'CARD_UPDATED',
      session_id: session,
      task_id: 7,
      external_user_id: 'user-1',
      published_at: expect.stringMatching(/Z$/),
    });
    const endpoints = await service.database.query<{ id: string }>('SELECT id FROM webhook_endpoint');
    expect(deliveries.map(({ endpoint_id: each }) => each).toSorted()).toEqual(
      endpoints.map((each) => each.id).toSorted(),
    );
    for (const delivery of deliveries)
      expect(delivery).toMatchObject({
        state: 'succeeded',
        last_attempt_at: expect.stringMatching(/Z$/),
        status_code: 200,
        reason: null,
        next_attempt_at: null,
      });
  });

  it('shows deliveries of a worker whose clock is 30 s behind that of the publisher', async () => {
    const clock = moveClock(service, 30_000);
    const id = await published(statusUpdate());
    clock[Symbol.dispose]();
    await settled(id, ['succeeded 1', 'succeeded 1']);
  });

  it('shows a delivery that waits for its retry', async () => {
    using _restored = { [Symbol.dispose]: () => (receiver.response = 200) };
    receiver.response = (response, { path }) => response.writeHead(path === '/second' ? 503 : 200).end();
    const id = await published(statusUpdate());
    const { deliveries } = await settled(id, ['succeeded 1', 'waiting 1']);
    expect(deliveries.find(({ state }) => state === 'waiting')).toMatchObject({
      status_code: 503,
      reason: 'NON_200',
      next_attempt_at: expect.stringMatching(/Z$/),
    });
  });

  it('shows an event without deliveries, without a user and of any client', async () => {
    const id = await published(statusUpdate({ client_id: service.production.clientId }));
    expect(await statusOf(id.toUpperCase())).toMatchObject({
      id,
      environment: 'production',
      session_id: null,
      task_id: null,
      external_user_id: null,
      deliveries: [],
    });
  });

  it('occupies one connection for a client whose queue takes long to read, however often it is requested', async () => {
    const id = await published(statusUpdate());
    const other = await published(statusUpdate({ client_id: service.production.clientId }));
    const repository = service.app.get(PublishedEventsRepository);
    const pending = repository.pending.bind(repository);
    let go = (): void => undefined;
    const read = new Promise<void>((resolve) => (go = resolve));
    let reading = 0;
    Object.assign(repository, {
      pending: async (of: string, ids: readonly string[]) => {
        if (of === clientId) reading += 1;
        if (of === clientId) await read;
        return pending(of, ids);
      },
    });
    const slow = Array.from({ length: 5 }, () => statusOf(id));
    await eventually('the queue is read', () => reading > 0);
    await statusOf(other);
    expect(reading).toBe(1);
    go();
    await Promise.all(slow);
    Reflect.deleteProperty(repository, 'pending');
    expect(reading).toBe(5);
  });

  it.each([UNKNOWN_ID, 'unknown'])('does not find %s', async (id) => {
    const { status, body } = await service.request(`/events/${id}`, { token });
    const message = 'There is no event with this ID. Events are kept as long as the request log.';
    expect([status, body]).toEqual([404, error('INVALID_REQUEST', 'NOT_FOUND', message)]);
  });

  it('requires a service token with the scope', async () => {
    const { token: other } = await issueServiceToken(service, ['detections:write']);
    expect((await service.request(`/events/${UNKNOWN_ID}`, { token: other })).status).toBe(403);
  });

  it('returns the usual errors', async () => {
    const id = await published(statusUpdate());
    await expectUsualErrors(service, `/events/${id}`, 'webhook_delivery', {}, { token });
  });
});

describe('Events that are published at the same time', () => {
  it('are published once each, even if the database refuses one of them', async () => {
    const users = ['first', 'second', 'third'].map((name) => `${name}-${randomUUID()}`);
    const [first, ...others] = users;
    await whileInsertsFail(
      service,
      'webhook_event',
      async () => {
        const responses = await Promise.all(
          [first, 'refused', ...others].map((user) => publish(loginRequired({ external_user_id: user }))),
        );
        expect(responses.map(({ status }) => status)).toEqual([200, 500, 200, 200]);
      },
      "NEW.external_user_id = 'refused'",
    );
    const stored = await service.database.query<{ external_user_id: string }>(
      'SELECT external_user_id FROM webhook_event WHERE external_user_id = ANY ($1)',
      [[...users, 'refused']],
    );
    expect(stored.map(({ external_user_id: user }) => user).toSorted()).toEqual(users.toSorted());
  });
});

it('An event whose first statement commits while it is repeated is published once', async () => {
  const batch = service.app.get(PublicationsBatch);
  const client = { clientId, environment: 'production' } as const;
  const event = newEvent(
    client,
    { event: 'MERCHANT_STATUS_UPDATE', merchant: { id: 1, name: 'x' }, data: { type: 'link', status: 'UP' } },
    new Date(),
  );
  const other = { ...event, id: randomUUID() };
  const publications = [event, other].map((each) => ({
    event: each,
    organizationId: service.organizationId,
    idempotency: undefined,
    session: undefined,
  }));
  // The first statement, whose connection was lost.
  const first = new pg.Client({ connectionString: service.database.url });
  await first.connect();
  await first.query('BEGIN');
  await first.query(
    `INSERT INTO webhook_event (id, created_at, client_id, environment, event, body) VALUES ($1, $2, $3, $4, $5, $6)`,
    [event.id, event.createdAt, clientId, client.environment, event.name, event.body],
  );
  const storeMissing = Reflect.get(batch, 'storeMissing') as (of: object[]) => Promise<unknown>;
  const results = storeMissing.call(batch, publications);
  await eventually('the second statement waits for the first', async () => {
    const waiting = await service.database.query(
      `SELECT FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'`,
    );
    return waiting.length > 0;
  });
  await first.query('COMMIT');
  await first.end();
  expect(await results).toEqual([event, other].map(({ id }) => ({ outcome: 'published', eventId: id })));
  expect(
    await service.database.query('SELECT FROM webhook_event WHERE id = ANY ($1)', [[event.id, other.id]]),
  ).toHaveLength(2);
});

describe('POST /events/batch', () => {
  const MIXED = (): unknown[] => [
    statusUpdate(),
    { ...statusUpdate(), event: 'UNKNOWN' },
    loginRequired({ client_id: UNKNOWN_ID }),
    'not an object',
    loginRequired({ client_id: service.production.clientId }),
    cardUpdated(UNKNOWN_ID),
  ];
  const MIXED_ERRORS = [
    null,
    invalidField(INVALID_EVENT),
    CLIENT_NOT_FOUND,
    invalidField('The event must be a JSON object.'),
    null,
    SESSION_NOT_FOUND,
  ];

  it.each([
    ['JSON', 'application/json', (events: readonly Event[]) => JSON.stringify({ events })],
    [
      'NDJSON',
      'application/x-ndjson',
      (events: readonly Event[]) => events.map((event) => JSON.stringify(event)).join('\n'),
    ],
  ])('rejects only the events that are larger than 512 KiB (%s)', async (_what, type, write) => {
    const sized = (size: number): Event => {
      const rest = JSON.stringify(loginRequired({ data: { padding: '' } })).length;
      return loginRequired({ data: { padding: 'x'.repeat(size - rest) } });
    };
    const { status, body } = await service.request<{ results: Result[] }>('/events/batch', {
      body: write([sized(524_288), sized(524_289), loginRequired()]),
      headers: { 'content-type': type },
      token,
    });
    expect(status).toBe(200);
    const tooLarge = error(
      'INVALID_REQUEST',
      'PAYLOAD_TOO_LARGE',
      'The event must not be larger than 524288 bytes.',
    );
    expect(body.results.map(({ error: problem }) => problem)).toEqual([null, tooLarge, null]);
  });

  it('publishes the valid events, and returns one result for each event in order', async () => {
    const before = await numberOfEvents();
    const results = await publishBatch(MIXED());
    expect(results.map(({ error: problem }) => problem)).toEqual(MIXED_ERRORS);
    expect(results.map(({ event_id }) => event_id !== null)).toEqual([
      true,
      false,
      false,
      false,
      true,
      false,
    ]);
    expect(await numberOfEvents()).toBe(before + 2);
    expect(await payloadOf(results[0]?.event_id ?? '')).toMatchObject({ event: 'MERCHANT_STATUS_UPDATE' });
    expect(await payloadOf(results[4]?.event_id ?? '')).toMatchObject({ event: 'ACCOUNT_LOGIN_REQUIRED' });
  });

  it('delivers each event to the endpoints of its own client only', async () => {
    const events = [service.production, service.development, service.production].map(
      ({ clientId: client_id }) => loginRequired({ client_id }),
    );
    const [first, own, last] = (await publishBatch(events)).map(({ event_id }) => event_id);
    const pathsOf = (id: unknown): string[] =>
      receiver.arrivals
        .filter(({ headers }) => headers['webhook-id'] === id)
        .map(({ path }) => path)
        .toSorted();
    await eventually('the event arrives', () => pathsOf(own).length === 2);
    expect(pathsOf(own)).toEqual(['/first', '/second']);
    expect([...pathsOf(first), ...pathsOf(last)]).toEqual([]);
  });

  it.each([
    'application/x-ndjson; charset=utf-8',
    'application/ndjson',
    'application/jsonl',
    'application/x-jsonlines',
    'Application/X-JSONL',
    'application/x-ndjson; version=1; charset=us-ascii',
  ])('accepts NDJSON as %s with blank lines, and reports invalid lines', async (type) => {
    const lines = [JSON.stringify(statusUpdate()), '', '{"broken', '[]', JSON.stringify(loginRequired())];
    const { status, body } = await service.request<{ results: Result[] }>('/events/batch', {
      body: `${lines.join('\r\n')}\n`,
      headers: { 'content-type': type },
      token,
    });
    expect(status).toBe(200);
    expect(body.results.map(({ error: problem }) => problem)).toEqual([
      null,
      invalidField('The line is not valid JSON.'),
      invalidField('The line must be a JSON object.'),
      null,
    ]);
  });

  it('reads 50 events in each turn of the event loop, of two batches at a time', async () => {
    let [turn, isRunning] = [0, true];
    void (async () => {
      for (; isRunning; turn += 1) await nextTurn();
    })();
    const turns = new Set<number>();
    const running = new Set<number>();
    let peak = 0;
    const publishEvents = async (batch: number): Promise<void> => {
      const read = {
        get event(): string {
          turns.add(turn);
          running.add(batch);
          peak = Math.max(peak, running.size);
          return 'UNKNOWN';
        },
      };
      const { results } = await service.app
        .get(EventsService)
        .publishBatch({ events: Array.from({ length: 1_000 }, () => read) }, undefined);
      running.delete(batch);
      expect(results.filter(({ error: problem }) => problem).length).toBe(1_000);
    };
    try {
      await publishEvents(0);
      expect(turns.size).toBeGreaterThanOrEqual(20);
      await Promise.all([1, 2, 3, 4, 5].map(publishEvents));
      // A batch that has just ended counts as well, because the next one begins before its response.
      expect(peak).toBeLessThanOrEqual(3);
    } finally {
      isRunning = false;
    }
  });

  it('accepts 1,000 events of 4 KiB, with as many statements as for one', async () => {
    const session = await createSession('user-1');
    const metadata = Object.fromEntries(
      Array.from({ length: 7 }, (_, index) => [`key-${index}`, 'x'.repeat(480)]),
    );
    const statements = watchStatements(service);
    // The background work runs at the same time.
    const OF_PUBLISHING = /^\s*(?:WITH request|SELECT id, client_id AS|SELECT id, name FROM merchant WHERE)/;
    const count = async (events: number): Promise<number> => {
      statements.length = 0;
      const batch = Array.from({ length: events }, () =>
        cardUpdated(session, { metadata, idempotency_key: randomUUID() }),
      );
      const results = await publishBatch(batch);
      expect(results.filter(({ error: problem }) => problem !== null)).toEqual([]);
      expect(results).toHaveLength(events);
      return statements.filter((text) => OF_PUBLISHING.test(text)).length;
    };
    const single = await count(1);
    expect(single).toBe(1);
    expect(await count(1_000)).toBe(single);
  });

  it.each<[string, unknown, string]>([
    ['no events', {}, 'The events field is required.'],
    ['an empty list', { events: [] }, 'The events field is required.'],
    ['a text', { events: 'all' }, 'The events field must be an array.'],
    [
      '1,001 events',
      { events: Array(1_001).fill({}) },
      'The events field must not have more than 1000 items.',
    ],
  ])('rejects %s', async (_what, body, message) => {
    const response = await service.request('/events/batch', { body, token });
    expect([response.status, response.body]).toEqual([400, invalidField(message)]);
  });

  it('rejects larger bodies and other media types', async () => {
    const body = 'x'.repeat(4_194_305);
    const tooLarge = await service.request('/events/batch', { body, token });
    expect(tooLarge.status).toBe(413);
    expect(tooLarge.body['error_message']).toBe('The request body must not be larger than 4194304 bytes.');
    const headers = { 'content-type': 'text/csv' };
    const unsupported = await service.request('/events/batch', { body: 'a,b', headers, token });
    expect(unsupported.status).toBe(415);
    expect(unsupported.body['error_message']).toBe(
      'The request body must be application/json or application/x-ndjson in UTF-8.',
    );
  });
});

describe.each([
  ['/events', () => loginRequired({ idempotency_key: randomUUID() })],
  ['/events/batch', () => ({ events: [loginRequired({ idempotency_key: randomUUID() })] })],
])('POST %s', (path, body) => {
  it('returns the usual errors', () =>
    expectUsualErrors(service, path, 'webhook_event_key', { body: body() }, { token }));
});

describe('POST /events', () => {
  it('does not serve clients of the other environment on a host of one environment', async () => {
    const { clientId: production } = service.production;
    await using pinned = await startTestApp({ PIN_ENVIRONMENT: 'development' });

    const { token: pinnedToken } = await issueServiceToken(pinned);
    const send = async (client_id: string) =>
      (await pinned.request('/events', { body: statusUpdate({ client_id }), token: pinnedToken })).status;
    expect(await send(pinned.development.clientId)).toBe(200);
    expect(await send(pinned.production.clientId)).toBe(404);
    const events = await pinned.database.query<{ id: string }>(
      `INSERT INTO webhook_event (id, created_at, client_id, environment, event, body)
         SELECT gen_random_uuid(), now(), id, environment, 'MERCHANT_STATUS_UPDATE', '{}' FROM api_client
          ORDER BY environment RETURNING id`,
    );
    const statuses = await Promise.all(
      events.map(({ id }) => pinned.request(`/events/${id}`, { token: pinnedToken })),
    );
    expect(statuses.map(({ status }) => status)).toEqual([200, 404]);
    expect(await send(production)).toBe(404);
  });
});

function cardUpdatedWithout(field?: string): Event {
  const { client_id: _, ...event } = cardUpdated(UNKNOWN_ID);
  return { ...event, ...(field && { [field]: undefined }) };
}
