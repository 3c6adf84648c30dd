import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { EVENT_NAMES } from '../../../src/infrastructure/event-catalog/index.js';
import { exampleEvent, examplePayload, WebhookPublisher } from '../../../src/modules/webhooks/index.js';
import { eventually } from '../../support/eventually.js';
import { whileLogIsLocked } from '../../support/database/locked-log.js';
import { UNKNOWN_ID } from '../../support/documents/operations.js';
import {
  invalidField,
  useTestApp,
  type TestResponse,
  type RequestOptions,
  useLogin,
} from '../../support/test-app.js';
import {
  useReceiver,
  type Arrival,
  RETRY_AT_ONCE,
  queueIsEmpty,
  copyFailure,
} from '../../support/webhooks/webhook-receiver.js';
import { freePort } from '../../support/programs/ports.js';

const INVALID_EVENT = `The selected event is invalid. Allowed values: ${EVENT_NAMES.join(', ')}.`;

const UNKNOWN_EVENT = invalidField('The selected event id is invalid.');
const LONG_AGO = '2026-01-31T08:00:00Z';
/** Enough for attempts to overlap and for a second delivery of each event to be queued. */
const EVENTS = 12;

const service = useTestApp(RETRY_AT_ONCE, { backgroundWork: true });
const receiver = useReceiver();
const owner = useLogin(service);

beforeEach(async () => {
  await queueIsEmpty(service);
  await service.database.query('DELETE FROM webhook_endpoint');
  receiver.arrivals.length = 0;
  receiver.response = 200;
});

async function createEndpoint(url = `${receiver.url}/hook`): Promise<string> {
  const response = await service.request('/webhook-endpoints/create', {
    body: { environment: 'development', url },
    login: owner,
  });
  expect(response.status).toBe(200);
  return String(response.body['id']);
}

const act = (verb: string, id: string, body: unknown, as: RequestOptions): Promise<TestResponse> =>
  service.request(`/webhook-endpoints/${id}/${verb}`, { body, ...as });
const test = (id: string, body: unknown = {}, as: RequestOptions = { login: owner }) =>
  act('test', id, body, as);
const redeliver = (id: string, event_id: unknown, as: RequestOptions = { login: owner }) =>
  act('redeliver', id, { event_id }, as);
const recover = (id: string, since: unknown = LONG_AGO, as: RequestOptions = { login: owner }) =>
  act('recover', id, { since }, as);

/** Requests a recovery and waits until it is finished. @returns how many deliveries it queued */
async function recovered(id: string, since: unknown = LONG_AGO): Promise<unknown> {
  expect((await recover(id, since)).status).toBe(202);
  return eventually('the recovery is finished', async () => {
    const { body } = await recoveryOf(id);
    return body['status'] === 'finished' ? { queued: body['queued'] } : undefined;
  });
}
const recoveryOf = (id: string): Promise<TestResponse> =>
  service.request(`/webhook-endpoints/${id}/recover`, { login: owner });

const publish = (as = service.development): Promise<string> => {
  const environment = as === service.production ? 'production' : 'development';
  return service.app
    .get(WebhookPublisher)
    .publish({ clientId: as.clientId, environment }, exampleEvent('CARD_UPDATED'));
};

const attemptsOf = (eventId: unknown): Promise<Record<string, unknown>[]> =>
  service.database.query(
    `SELECT type, client_id, url, event, status_code, reason, attempt, webhook_endpoint_id
       FROM request_log WHERE webhook_event_id = $1 ORDER BY id`,
    [eventId],
  );

const arrivalsOf = (eventId: unknown): Arrival[] =>
  receiver.arrivals.filter(({ headers }) => headers['webhook-id'] === eventId);

/** Publishes events whose three attempts fail at each endpoint. */
async function failed(count: number, endpoints = 1): Promise<string[]> {
  receiver.response = 500;
  const ids = await Promise.all(Array.from({ length: count }, () => publish()));
  await queueIsEmpty(service);
  const attempts = [1, 2, 3].flatMap((attempt) => Array<number>(endpoints).fill(attempt));
  for (const id of ids)
    expect((await attemptsOf(id)).map(({ attempt }) => attempt).toSorted()).toEqual(attempts);
  receiver.response = 200;
  receiver.arrivals.length = 0;
  return ids;
}

/** Publishes events whose first attempt fails, and whose second is due in 15 minutes. */
async function waitingForRetry(count: number): Promise<string[]> {
  receiver.response = (response) => response.writeHead(500, { 'retry-after': '900' }).end();
  const ids = await Promise.all(Array.from({ length: count }, () => publish()));
  await eventually('the events wait for a retry', async () => {
    const rows = await service.database.query('SELECT FROM webhook_delivery WHERE due_at > now()');
    return rows.length === count || undefined;
  });
  return ids;
}

/** Holds responses back until the returned function is called. */
function holdResponses(): () => void {
  const held: (() => void)[] = [];
  receiver.response = (response) => held.push(() => response.writeHead(200).end());
  return () => {
    receiver.response = 200;
    for (const respond of held) respond();
  };
}

describe('Testing an endpoint', () => {
  it('reports that the endpoint received the event', async () => {
    const id = await createEndpoint();
    const { status, body } = await test(id);
    expect([status, body]).toEqual([
      200,
      {
        event_id: expect.any(String),
        received: true,
        status_code: 200,
        reason: null,
        message: 'The endpoint received the event.',
        latency_ms: expect.any(Number),
      },
    ]);
    const [arrival] = arrivalsOf(body['event_id']);
    expect(arrival?.event).toEqual({
      ...examplePayload('AUTHENTICATED'),
      timestamp: expect.any(Number),
    });
    expect(arrival?.headers['service-signature']).toMatch(/./);
    expect(receiver.arrivals).toHaveLength(1);
  });

  it.each(EVENT_NAMES)('can send %s', async (event) => {
    const { body } = await test(await createEndpoint(), { event });
    expect(arrivalsOf(body['event_id']).map((arrival) => arrival.event['event'])).toEqual([event]);
  });

  it('rejects names that are not events', async () => {
    for (const event of ['card_updated', 'constructor', 7, ['CARD_UPDATED']]) {
      const { status, body } = await test(await createEndpoint(`${receiver.url}/${randomUUID()}`), { event });
      expect([status, body]).toEqual([400, invalidField(INVALID_EVENT)]);
    }
    expect(receiver.arrivals).toEqual([]);
  });

  it.each([201, 204, 301, 500])(
    'reports that only 200 counts if the endpoint responds with %i',
    async (responseStatus) => {
      receiver.response = responseStatus;
      const { status, body } = await test(await createEndpoint());
      expect([status, body]).toEqual([
        200,
        expect.objectContaining({
          received: false,
          status_code: responseStatus,
          reason: 'NON_200',
          message: `The endpoint responded with ${responseStatus}. Only 200 counts: a real event would be sent twice more.`,
        }),
      ]);
    },
  );

  it('reports a refused connection', async () => {
    const url = `http://127.0.0.1:${await freePort()}/`;
    const { status, body } = await test(await createEndpoint(url));
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ received: false, status_code: 0, reason: 'REFUSED' }),
    ]);
    expect(body['message']).toMatch(/^[A-Z].{10,200}\.$/);
  });

  it.each([200, 500])(
    'sends the event once and logs it if the endpoint responds with %i',
    async (responseStatus) => {
      receiver.response = responseStatus;
      const id = await createEndpoint();
      const { body } = await test(id, { event: 'CARD_FAILED' });
      const logged = {
        type: 'webhook',
        client_id: service.development.clientId,
        url: `${receiver.url}/hook`,
        event: 'CARD_FAILED',
        status_code: responseStatus,
        reason: responseStatus === 200 ? null : 'NON_200',
        attempt: 1,
        webhook_endpoint_id: id,
      };
      // The entry exists before the response. The pause is longer than a worker's poll interval: nothing follows.
      expect(await attemptsOf(body['event_id'])).toEqual([logged]);
      await pause(1_500);
      expect(await attemptsOf(body['event_id'])).toEqual([logged]);
      expect(receiver.arrivals).toHaveLength(1);
      await queueIsEmpty(service);
    },
  );

  it('sends nothing to other endpoints', async () => {
    await createEndpoint(`${receiver.url}/other`);
    await test(await createEndpoint());
    expect(receiver.arrivals.map(({ path }) => path)).toEqual(['/hook']);
  });

  it('waits for other tests of the organization, if the receivers do not respond, and is refused if many wait', async () => {
    const id = await createEndpoint();
    const release = holdResponses();
    const tests = Array.from({ length: 50 }, () => test(id));
    const refused: TestResponse[] = [];
    for (const each of tests) void each.then((response) => refused.push(response));
    await eventually('those that are too many are refused', () => refused.length === 27);
    for (const { status, headers } of refused)
      expect([status, headers.get('retry-after')]).toEqual([429, '10']);
    await receiver.arrived(3);
    // The endpoint still gets its deliveries.
    const published = await publish();
    await eventually('the event arrives', () => arrivalsOf(published).length === 1);
    expect(receiver.arrivals).toHaveLength(4);
    release();
    const responses = await Promise.all(tests);
    expect(responses.filter(({ body }) => body['received'] === true)).toHaveLength(23);
    await queueIsEmpty(service);
    expect(receiver.arrivals).toHaveLength(24);
  });

  it('works while the endpoint has many deliveries', async () => {
    const id = await createEndpoint();
    await Promise.all(Array.from({ length: EVENTS }, () => publish()));
    const responses = await Promise.all(Array.from({ length: 20 }, () => test(id)));
    expect(responses.map(({ body }) => body['received'])).toEqual(Array(20).fill(true));
    await receiver.arrived(EVENTS + 20);
    await queueIsEmpty(service);
    expect(receiver.arrivals).toHaveLength(EVENTS + 20);
  });
});

describe('Redelivering an event', () => {
  it('sends the same bytes, even if the event was received before', async () => {
    const id = await createEndpoint();
    const eventId = await publish();
    await receiver.arrived(1);
    await queueIsEmpty(service);
    const { status, body } = await redeliver(id, eventId);
    expect([status, body]).toEqual([200, { queued: 1 }]);
    await receiver.arrived(2);
    await queueIsEmpty(service);
    const [first, second, ...others] = arrivalsOf(eventId);
    expect(others).toEqual([]);
    expect(second?.body.equals(first?.body as Buffer)).toBe(true);
    expect((await attemptsOf(eventId)).map(({ status_code }) => status_code)).toEqual([200, 200]);
  });

  it('sends it to the current URL of the endpoint, with three attempts', async () => {
    const id = await createEndpoint();
    const [eventId] = await failed(1);
    const url = `${receiver.url}/moved`;
    await service.request(`/webhook-endpoints/${id}`, { method: 'PATCH', body: { url }, login: owner });
    receiver.response = 500;
    expect((await redeliver(id, eventId)).status).toBe(200);
    await queueIsEmpty(service);
    expect(receiver.arrivals.map(({ path }) => path)).toEqual(['/moved', '/moved', '/moved']);
    expect((await attemptsOf(eventId)).map(({ attempt }) => attempt)).toEqual([1, 2, 3, 1, 2, 3]);
  });

  it('sends an event that waits for a retry now, as one more attempt', async () => {
    const id = await createEndpoint();
    const [eventId] = await waitingForRetry(1);
    expect((await redeliver(id, eventId)).body).toEqual({ queued: 1 });
    await receiver.arrived(2);
    const [delivery] = await eventually('the event waits again', () =>
      service.database
        .query(
          'SELECT attempts, attempts_allowed FROM webhook_delivery WHERE due_at > now() AND attempts = 2',
        )
        .then((rows) => (rows.length > 0 ? rows : undefined)),
    );
    expect(delivery).toEqual({ attempts: 2, attempts_allowed: 4 });
    receiver.response = 200;
    expect((await redeliver(id, eventId)).body).toEqual({ queued: 1 });
    await queueIsEmpty(service);
    expect((await attemptsOf(eventId)).map(({ status_code }) => status_code)).toEqual([500, 500, 200]);
  });

  it('sends what waits to a new URL, whose endpoint starts afresh', async () => {
    const id = await createEndpoint();
    const [eventId, ...others] = await waitingForRetry(6);
    const url = `${receiver.url}/moved`;
    const { body } = await service.request(`/webhook-endpoints/${id}`, {
      method: 'PATCH',
      body: { url },
      login: owner,
    });
    expect(body['health']).toEqual({
      last_success_at: null,
      consecutive_failures: 0,
      throttled: false,
      disabled_reason: null,
    });
    receiver.response = 200;
    for (const each of [eventId, ...others]) expect((await redeliver(id, each)).body).toEqual({ queued: 1 });
    await queueIsEmpty(service);
    expect((await attemptsOf(eventId)).map((attempt) => attempt['url'])).toEqual([
      `${receiver.url}/hook`,
      url,
    ]);
  });

  it('is sent although the clock of the database was ahead when its attempts were planned', async () => {
    await createEndpoint();
    const [eventId] = await waitingForRetry(1);
    receiver.response = 200;
    await service.database.query(`UPDATE webhook_delivery SET due_at = now() + interval '2 days'`);
    await service.database.query(
      `UPDATE webhook_lane SET next_due = now() + interval '2 days', not_before = now() + interval '2 days'`,
    );
    await queueIsEmpty(service);
    expect((await attemptsOf(eventId)).map(({ status_code }) => status_code)).toEqual([500, 200]);
  });

  it('adds no attempts to an event that is being sent', async () => {
    const id = await createEndpoint();
    const release = holdResponses();
    const eventId = await publish();
    await receiver.arrived(1);
    const responses = await Promise.all(Array.from({ length: 5 }, () => redeliver(id, eventId)));
    expect(responses.map(({ status, body }) => [status, body])).toEqual(Array(5).fill([200, { queued: 0 }]));
    release();
    await queueIsEmpty(service);
    expect(await attemptsOf(eventId)).toHaveLength(1);
    expect((await redeliver(id, eventId)).body).toEqual({ queued: 1 });
    await queueIsEmpty(service);
    expect(receiver.arrivals).toHaveLength(2);
  });

  it('rejects events that the client of the endpoint does not have', async () => {
    const id = await createEndpoint();
    const ofProduction = await publish(service.production);
    const ofOtherOrganization = await publish((await service.anotherOrganization()).development);
    for (const unknown of [UNKNOWN_ID, randomUUID(), 'x', "'", ofProduction, ofOtherOrganization]) {
      const { status, body } = await redeliver(id, unknown);
      expect([unknown, status, body]).toEqual([unknown, 400, UNKNOWN_EVENT]);
    }
    for (const missing of [null, '', undefined]) {
      const { status, body } = await redeliver(id, missing);
      expect([status, body]).toEqual([400, invalidField('The event id field is required.')]);
    }
    await queueIsEmpty(service);
    expect(receiver.arrivals).toEqual([]);
  });
});

describe('Recovering from an outage', () => {
  it('delivers each failed event once', async () => {
    const id = await createEndpoint();
    const received = await publish();
    await receiver.arrived(1);
    await queueIsEmpty(service);
    const ids = await failed(EVENTS);
    expect(await recovered(id)).toEqual({ queued: EVENTS });
    await receiver.arrived(EVENTS);
    await queueIsEmpty(service);
    const arrivedIds = receiver.arrivals.map(({ headers }) => headers['webhook-id']);
    expect(arrivedIds.toSorted()).toEqual(ids.toSorted());
    expect(arrivalsOf(received)).toEqual([]);
    expect(await recovered(id)).toEqual({ queued: 0 });
    await queueIsEmpty(service);
    expect(receiver.arrivals).toHaveLength(EVENTS);
  });

  it('runs once for 20 concurrent requests, and reports its state', async () => {
    const id = await createEndpoint();
    const ids = await failed(EVENTS);
    expect((await recoveryOf(id)).body).toEqual({
      status: 'none',
      since: null,
      queued: 0,
      requested_at: null,
      finished_at: null,
    });
    // While the log cannot be read, requests are still accepted.
    let responses: TestResponse[] = [];
    await whileLogIsLocked(service.database, async () => {
      responses = await Promise.all(Array.from({ length: 20 }, () => recover(id)));
    });
    expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(202));
    expect(new Set(responses.map(({ body }) => body['requested_at'])).size).toBe(1);
    expect(responses[0]?.body).toMatchObject({ status: 'running', queued: 0, finished_at: null });
    await receiver.arrived(EVENTS);
    await queueIsEmpty(service);
    for (const eventId of ids) expect(arrivalsOf(eventId)).toHaveLength(1);
    expect(receiver.arrivals).toHaveLength(EVENTS);
    const { body } = await recoveryOf(id);
    expect(body).toMatchObject({ status: 'finished', queued: EVENTS });
  });

  it('starts at the oldest entry of the request log at the earliest', async () => {
    const { body } = await recover(await createEndpoint(), '2001-01-31T08:00:00Z');
    const daysAgo = (Date.now() - Date.parse(String(body['since']))) / (24 * 60 * 60_000);
    expect(Math.round(daysAgo)).toBe(30);
  });

  it('continues after the process that ran it has ended', async () => {
    const id = await createEndpoint();
    await failed(2);
    await service.database.query(
      `INSERT INTO webhook_recovery (endpoint_id, since, requested_at, lease_until)
       VALUES ($1, now() - interval '1 day', now(), now() - interval '1 second')`,
      [id],
    );
    await receiver.arrived(2);
    await queueIsEmpty(service);
  });

  it('continues although the clock of the database was ahead when a process ran it', async () => {
    const id = await createEndpoint();
    await failed(2);
    await service.database.query(
      `INSERT INTO webhook_recovery (endpoint_id, since, requested_at, lease_until)
       VALUES ($1, now() - interval '1 day', now(), now() + interval '2 days')`,
      [id],
    );
    await receiver.arrived(2);
    await queueIsEmpty(service);
  });

  it('goes on with the events that were found, after those that were handled', async () => {
    const id = await createEndpoint();
    const ids = await failed(3);
    // The first event was handled, regardless of its outcome. The third one was not found.
    await service.database.query(
      `INSERT INTO webhook_recovery (endpoint_id, event_ids, selected, handled, since, requested_at, lease_until)
       VALUES ($1, $2, 2, 1, now() - interval '1 day', now(), now() - interval '1 second')`,
      [id, ids.slice(0, 2)],
    );
    await receiver.arrived(1);
    await queueIsEmpty(service);
    expect(receiver.arrivals.map(({ headers }) => headers['webhook-id'])).toEqual([ids[1]]);
  });

  it('continues where another process has stopped reading', async () => {
    const id = await createEndpoint();
    const [handled, waiting] = [await failed(1), await failed(1)];
    await service.database.query(
      `INSERT INTO webhook_recovery (endpoint_id, position, since, requested_at)
       SELECT $1, json_build_object('of', 'attempts', 'createdAt', created_at, 'id', id::text, 'until', now()),
              now() - interval '1 day', now()
         FROM request_log WHERE webhook_event_id = $2 ORDER BY id DESC LIMIT 1`,
      [id, handled[0]],
    );
    await receiver.arrived(1);
    await queueIsEmpty(service);
    expect(receiver.arrivals.map(({ headers }) => headers['webhook-id'])).toEqual(waiting);
  });

  it('waits for no other connection while it has locked the lane', async () => {
    const id = await createEndpoint();
    await failed(1);
    const { database } = service;
    await database.query(`
      CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_advisory_xact_lock_shared(4711); RETURN NEW; END';
      CREATE TRIGGER wait_for_test AFTER UPDATE ON webhook_lane FOR EACH ROW EXECUTE FUNCTION wait_for_test()`);
    const readsLog = async () => {
      const readers = await database.query(
        `SELECT FROM pg_locks waiting JOIN pg_locks held USING (pid)
          WHERE waiting.relation = 'request_log'::regclass AND NOT waiting.granted
            AND held.relation = 'webhook_lane'::regclass AND held.mode = 'RowExclusiveLock'`,
      );
      return readers.length > 0;
    };
    let reading: Promise<void> | undefined;
    await service.app.get(DataSource).transaction(async (gate) => {
      await gate.query('SELECT pg_advisory_xact_lock(4711)');
      await recover(id);
      await eventually('the lane is locked', async () => {
        const waiting = await database.query('SELECT FROM pg_locks WHERE objid = 4711 AND NOT granted');
        return waiting.length > 0;
      });
      await new Promise<void>((resolve) => {
        reading = whileLogIsLocked(database, async () => {
          resolve();
          await eventually('the session that has locked the lane reads the log', readsLog);
        });
      });
    });
    await reading;
    await database.query('DROP FUNCTION wait_for_test CASCADE');
  });

  it('leaves the retry of an event as it was planned', async () => {
    const id = await createEndpoint();
    await waitingForRetry(2);
    expect(await recovered(id)).toEqual({ queued: 0 });
    const deliveries = await service.database.query(
      'SELECT attempts, attempts_allowed, due_at > now() AS waits FROM webhook_delivery',
    );
    expect(deliveries).toEqual(Array(2).fill({ attempts: 1, attempts_allowed: 3, waits: true }));
    await service.database.query('DELETE FROM webhook_endpoint');
  });

  it('handles thousands of events, without a list of them', async () => {
    const id = await createEndpoint();
    const [eventId] = await failed(1);
    await copyFailure(service, eventId, 2_500);
    const release = holdResponses();
    await service.database.query(
      'ALTER TABLE webhook_recovery ADD CONSTRAINT no_list CHECK (event_ids IS NULL)',
    );
    expect(await recovered(id)).toEqual({ queued: 2_501 });
    await service.database.query('ALTER TABLE webhook_recovery DROP CONSTRAINT no_list');
    // Also deletes the deliveries.
    await service.database.query('DELETE FROM webhook_endpoint');
    release();
  });

  it('does not wait for those that another client requested before', async () => {
    const { body } = await service.request('/webhook-endpoints/create', {
      body: { environment: 'production', url: `${receiver.url}/hook` },
      login: owner,
    });
    const endpoints = [await createEndpoint(), String(body['id'])];
    // The first one has many pages, with events that no longer exist.
    await service.database.query(
      `INSERT INTO webhook_recovery (endpoint_id, event_ids, selected, since, requested_at)
       SELECT id::uuid, ARRAY(SELECT gen_random_uuid() FROM generate_series(1, count)), count, now() - interval '1 day', now() + turn
         FROM (VALUES ($1, 20000, interval '0'), ($2, 1, interval '1 second')) AS requested (id, count, turn)`,
      endpoints,
    );
    const order = await eventually('both are finished', async () => {
      const rows = await service.database.query<{ endpoint_id: string }>(
        'SELECT endpoint_id FROM webhook_recovery WHERE finished_at IS NOT NULL ORDER BY finished_at',
      );
      return rows.length === 2 ? rows.map(({ endpoint_id }) => endpoint_id) : undefined;
    });
    expect(order).toEqual(endpoints.toReversed());
  });

  it('waits for no long ones, however many other clients have requested them', async () => {
    const CLIENTS = 12;
    const clients = [];
    for (let count = 0; count < CLIENTS; count += 1) clients.push(await service.anotherOrganization());
    await service.database.query(
      `WITH requested AS (
         INSERT INTO webhook_endpoint (id, client_id, url, created_at)
         SELECT gen_random_uuid(), client_id, $2 || '/of-others', now() FROM unnest($1::uuid[]) client_id
         RETURNING id)
       INSERT INTO webhook_recovery (endpoint_id, event_ids, selected, since, requested_at)
       SELECT id, ARRAY(SELECT gen_random_uuid() FROM generate_series(1, 20000)), 20000, now(), now() - interval '1 hour'
         FROM requested`,
      [clients.map(({ development }) => development.clientId), receiver.url],
    );
    const id = await createEndpoint();
    expect(await recovered(id)).toEqual({ queued: 0 });
    const others = await service.database.query('SELECT FROM webhook_recovery WHERE finished_at IS NULL');
    expect(others).toHaveLength(CLIENTS);
    // Between two pages, another process can continue: if this one stops, nobody waits for the end of a lease.
    const leased = await service.database.query(
      'SELECT FROM webhook_recovery WHERE finished_at IS NULL AND lease_until > now()',
    );
    expect(leased.length).toBeLessThanOrEqual(1);
    await service.database.query('DELETE FROM webhook_endpoint');
  });

  it('leaves out events that still have attempts left', async () => {
    const id = await createEndpoint();
    await failed(2);
    const release = holdResponses();
    const fresh = await publish();
    await receiver.arrived(1);
    expect(await recovered(id)).toEqual({ queued: 2 });
    expect(await recovered(id)).toEqual({ queued: 0 });
    // Failures may have narrowed the lane to one request at a time.
    release();
    await receiver.arrived(3);
    await queueIsEmpty(service);
    expect(arrivalsOf(fresh)).toHaveLength(1);
    expect(receiver.arrivals).toHaveLength(3);
  });

  it('is limited to events since the given time and to one endpoint', async () => {
    const id = await createEndpoint();
    const other = await createEndpoint(`${receiver.url}/other`);
    await failed(2, 2);
    const later = new Date(Date.now() + 60_000).toISOString().replace(/\.\d+/, '');
    expect(await recovered(id, later)).toEqual({ queued: 0 });
    expect(await recovered(other)).toEqual({ queued: 2 });
    await receiver.arrived(2);
    await queueIsEmpty(service);
    expect(receiver.arrivals.map(({ path }) => path)).toEqual(['/other', '/other']);
    expect(await recovered(id)).toEqual({ queued: 2 });
  });

  it('leaves out failed tests', async () => {
    const id = await createEndpoint();
    receiver.response = 204;
    expect((await act('test', id, {}, { login: owner })).body).toMatchObject({ received: false });
    receiver.response = 200;
    expect(await recovered(id)).toEqual({ queued: 0 });
  });

  it.each([
    [undefined, 'The since field is required.'],
    [null, 'The since field is required.'],
    ['yesterday', 'The since field must be a date and time such as 2026-01-31T08:15:30Z.'],
    ['2026-02-30T00:00:00Z', 'The since field must be a date and time such as 2026-01-31T08:15:30Z.'],
    [7, 'The since field must be a date and time such as 2026-01-31T08:15:30Z.'],
  ])('rejects the time %j', async (since, message) => {
    const { status, body } = await act('recover', await createEndpoint(), { since }, { login: owner });
    expect([status, body]).toEqual([400, invalidField(message)]);
  });
});
