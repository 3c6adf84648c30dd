import { MINUTE } from '../../../src/infrastructure/time/index.js';
import { moveClock, stopClock } from '../../support/clock.js';
import { whileInsertsFail } from '../../support/database/failing-inserts.js';
import { issueServiceToken } from '../../support/logins/service-tokens.js';
import { useTestApp } from '../../support/test-app.js';

const MERCHANT = { id: 16, name: 'Netflix' };

type Environment = 'development' | 'production';
type Event = Readonly<Record<string, unknown>>;

const service = useTestApp();
let token: string;

beforeAll(async () => {
  ({ token } = await issueServiceToken(service, ['events:publish']));
});

async function sessionOf(user: string, environment: Environment): Promise<string> {
  const { body } = await service.request('/session/create', {
    body: { type: 'link', external_user_id: user },
    as: service[environment],
  });
  return String(body['session']);
}

const required = (user: string, environment: Environment = 'production'): Event => ({
  client_id: service[environment].clientId,
  event: 'ACCOUNT_LOGIN_REQUIRED',
  external_user_id: user,
  merchant_id: MERCHANT.id,
});
const authenticated = (user: string, session_id: string, environment: Environment = 'production'): Event => ({
  ...required(user, environment),
  event: 'AUTHENTICATED',
  session_id,
  task_id: 7,
  data: { card_id: null },
});

async function publish(event: Event): Promise<string> {
  const { status, body } = await service.request('/events', { body: event, token });
  expect(status).toBe(200);
  return String(body['event_id']);
}

/** Returns the time in the body of the event. */
async function timestampOf(eventId: string): Promise<string> {
  const [row] = await service.database.query<{ body: Buffer }>(
    'SELECT body FROM webhook_event WHERE id = $1',
    [eventId],
  );
  const { timestamp } = JSON.parse(String(row?.body)) as { timestamp: number };
  return new Date(timestamp).toISOString();
}

async function accountsOf(user: string, environment: Environment = 'production'): Promise<unknown> {
  const { body } = await service.request(`/merchant-accounts?external_user_id=${user}`, {
    as: service[environment],
  });
  return body['data'];
}

const account = (state: string, since: string, session_id: string | null): object => ({
  merchant: MERCHANT,
  state,
  since,
  session_id,
});

it.each<Environment>(['development', 'production'])(
  'POST /events connects and disconnects an account of %s, since the time of the event',
  async (environment) => {
    const session = await sessionOf('a', environment);
    const connected = await timestampOf(await publish(authenticated('a', session, environment)));
    expect(await accountsOf('a', environment)).toEqual([account('connected', connected, session)]);
    const disconnected = await timestampOf(await publish(required('a', environment)));
    expect(await accountsOf('a', environment)).toEqual([account('disconnected', disconnected, session)]);
  },
);

it('ACCOUNT_LOGIN_REQUIRED disconnects an account that the service did not know', async () => {
  const since = await timestampOf(await publish(required('unknown')));
  expect(await accountsOf('unknown')).toEqual([account('disconnected', since, null)]);
});

it('The last of several events of an account in a batch decides, and the session is kept', async () => {
  const [first, last] = [await sessionOf('b', 'production'), await sessionOf('b', 'production')];
  const other = await sessionOf('c', 'production');
  const events = [
    authenticated('b', first),
    required('c'),
    required('b'),
    authenticated('b', last),
    required('b'),
    authenticated('c', other),
    { ...required('b'), event: 'NEW_TRANSACTIONS_AVAILABLE' },
  ];
  const { body } = await service.request('/events/batch', { body: { events }, token });
  expect(body['results']).toMatchObject(events.map(() => ({ error: null })));
  expect(await accountsOf('b')).toMatchObject([{ state: 'disconnected', session_id: last }]);
  expect(await accountsOf('c')).toMatchObject([{ state: 'connected', session_id: other }]);
});

it('An older event never changes an account, and one with the same time does', async () => {
  const now = new Date();
  const session = await sessionOf('d', 'production');
  const publishAt = async (time: number, event: Event): Promise<void> => {
    using _clock = stopClock(service, new Date(time));
    await publish(event);
  };
  await publishAt(now.getTime(), authenticated('d', session));
  await publishAt(now.getTime() - MINUTE, required('d'));
  expect(await accountsOf('d')).toEqual([account('connected', now.toISOString(), session)]);
  await publishAt(now.getTime(), required('d'));
  expect(await accountsOf('d')).toEqual([account('disconnected', now.toISOString(), session)]);
});

describe.each<{
  source: string;
  environment: Environment;
  send: (event: Event) => Promise<{ status: number; body: unknown }>;
}>([
  {
    source: 'POST /events',
    environment: 'production',
    send: (event) => service.request('/events', { body: event, token }),
  },
  {
    source: 'POST /events/batch',
    environment: 'production',
    send: async (event) => {
      const { body } = await service.request<{ results: { error: { status_code?: number } | null }[] }>(
        '/events/batch',
        {
          body: { events: [event] },
          token,
        },
      );
      const error = body.results[0]?.error ?? null;
      return { status: error === null ? 200 : 400, body: error };
    },
  },
  {
    source: 'POST /development/webhooks/trigger',
    environment: 'development',
    send: ({ client_id: _client, task_id: _task, ...event }) =>
      service.request('/development/webhooks/trigger', { body: event, as: service.development }),
  },
  {
    source: 'POST /development/accounts/…',
    environment: 'development',
    send: ({ event, external_user_id, merchant_id, session_id, timestamp }) =>
      service.request(`/development/accounts/${event === 'AUTHENTICATED' ? 'link' : 'disconnect'}`, {
        body: { external_user_id, merchant_id, session_id, timestamp },
        as: service.development,
      }),
  },
])('The timestamp of an event of $source', ({ source, environment, send }) => {
  const user = `time-${source.replaceAll(/\W+/g, '-')}`;
  const state = async (): Promise<unknown> => {
    const [found] = (await accountsOf(user, environment)) as { state: string; since: string }[];
    return found && [found.state, Date.parse(found.since)];
  };

  it('decides the state of the account, whenever the event is published', async () => {
    const now = Date.now();
    const session = await sessionOf(user, environment);
    const connected = authenticated(user, session, environment);
    const at = async (timestamp: number | null | undefined, event: Event): Promise<void> => {
      const { status, body } = await send({ ...event, timestamp });
      expect([status, body]).toEqual([200, body]);
    };
    await at(now - 30 * MINUTE, connected);
    expect(await state()).toEqual(['connected', now - 30 * MINUTE]);
    await at(now - 60 * MINUTE, required(user, environment));
    expect(await state()).toEqual(['connected', now - 30 * MINUTE]);
    await at(now - 30 * MINUTE, required(user, environment));
    expect(await state()).toEqual(['disconnected', now - 30 * MINUTE]);
    await at(now - 31 * MINUTE, connected);
    expect(await state()).toEqual(['disconnected', now - 30 * MINUTE]);
    await at(null, connected);
    const [, since] = (await state()) as [string, number];
    expect(since).toBeGreaterThanOrEqual(now);
    await at(now + 4 * MINUTE, required(user, environment));
    expect(await state()).toEqual(['disconnected', now + 4 * MINUTE]);
    await at(undefined, connected);
    expect(await state()).toEqual(['disconnected', now + 4 * MINUTE]);
    const sent = await service.database.query<{ body: Buffer }>(
      'SELECT body FROM webhook_event WHERE external_user_id = $1 ORDER BY created_at',
      [user],
    );
    const times = sent.map(({ body }) => (JSON.parse(String(body)) as { timestamp: number }).timestamp);
    expect(times).toEqual(expect.arrayContaining([now - 60 * MINUTE, now - 31 * MINUTE, now + 4 * MINUTE]));
  });

  it.each([
    [() => Date.now() + 6 * MINUTE, 'must not be more than 5 minutes in the future'],
    [() => 1_795_691_826, 'must be at least 1000000000000'],
    [() => '2026-01-31T08:15:30Z', 'must be an integer'],
    [() => 1.5, 'must be an integer'],
    [() => 1e15, 'must not be greater than 253402300799999'],
  ])('is refused if it is out of bounds: %s', async (timestamp, message) => {
    const session = await sessionOf(user, environment);
    const event = { ...authenticated(user, session, environment), timestamp: timestamp() };
    const { status, body } = await send(event);
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(message)]);
  });
});

it('An account that the client unlinks stays disconnected, although it was connected by a clock that is ahead', async () => {
  const session = await sessionOf('ahead', 'production');
  const time = Date.now() + 4 * MINUTE;
  await publish({ ...authenticated('ahead', session), timestamp: time });
  const unlinked = await service.request('/accounts/unlink', {
    body: { external_user_id: 'ahead', merchant_id: MERCHANT.id },
    as: service.production,
  });
  expect(unlinked.status).toBe(200);
  await publish({ ...authenticated('ahead', session), timestamp: time - MINUTE });
  expect(await accountsOf('ahead')).toEqual([account('disconnected', new Date(time).toISOString(), session)]);
});

describe('An account that was unlinked', () => {
  const unlink = async (user: string): Promise<void> => {
    const body = { external_user_id: user, merchant_id: MERCHANT.id };
    const { status } = await service.request('/accounts/unlink', { body, as: service.production });
    expect(status).toBe(200);
  };

  it.each<[string, number, number, number | undefined]>([
    ['that the publisher who connected it was ahead', 4 * MINUTE, 0, undefined],
    ['that the publisher was ahead, and the next event has a time', 4 * MINUTE, 0, MINUTE],
    ['that the process which unlinked it is ahead', -MINUTE, 2 * MINUTE, undefined],
  ])(
    'is connected by the next sign-in, although clocks differ so %s',
    async (_how, connectedAt, ahead, nextAt) => {
      const user = `unlinked-${String(connectedAt)}-${String(nextAt)}`;
      const [first, next] = [await sessionOf(user, 'production'), await sessionOf(user, 'production')];
      const now = Date.now();
      await publish({ ...authenticated(user, first), timestamp: now + connectedAt });
      {
        using _clock = moveClock(service, ahead);
        await unlink(user);
      }
      await publish(required(user));
      await publish({ ...authenticated(user, first), timestamp: now - MINUTE });
      expect(await accountsOf(user)).toMatchObject([{ state: 'disconnected' }]);
      await publish({
        ...authenticated(user, next),
        ...(nextAt !== undefined && { timestamp: now + nextAt }),
      });
      expect(await accountsOf(user)).toMatchObject([{ state: 'connected', session_id: next }]);
      // From now on, the time decides again.
      await publish({ ...required(user), timestamp: now - 2 * MINUTE });
      expect(await accountsOf(user)).toMatchObject([{ state: 'connected' }]);
    },
  );
});

it('An event that is repeated with its idempotency key changes nothing', async () => {
  const event = { ...authenticated('e', await sessionOf('e', 'production')), idempotency_key: 'sign-in-e' };
  await publish(event);
  await publish(required('e'));
  const before = await accountsOf('e');
  await publish(event);
  expect(await accountsOf('e')).toEqual(before);
});

it('An event whose account cannot be changed is not published, and the others of its batch are', async () => {
  const event = authenticated('f', await sessionOf('f', 'production'));
  await whileInsertsFail(service, 'merchant_account', async () => {
    expect((await service.request('/events', { body: event, token })).status).toBe(500);
    await publish({ ...required('f'), event: 'NEW_TRANSACTIONS_AVAILABLE' });
  });
  const events = await service.database.query(
    "SELECT event FROM webhook_event WHERE external_user_id = 'f' AND event <> 'NEW_TRANSACTIONS_AVAILABLE'",
  );
  expect([events, await accountsOf('f')]).toEqual([[], []]);
});

it('Concurrent events of the same accounts in opposite orders all succeed', async () => {
  const users = Array.from({ length: 20 }, (_, index) => `g${index}`);
  const batches = await Promise.all(
    Array.from({ length: 20 }, (_, index) => {
      const events = (index % 2 === 0 ? users : users.toReversed()).map((user) => required(user));
      return service.request<{ results: { error: unknown }[] }>('/events/batch', { body: { events }, token });
    }),
  );
  expect(batches.flatMap(({ body }) => body.results.filter(({ error }) => error !== null))).toEqual([]);
  expect(await accountsOf('g7')).toMatchObject([{ state: 'disconnected' }]);
});
