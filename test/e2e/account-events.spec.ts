import { MINUTE } from '../../src/infrastructure/time/index.js';
import { stopClock } from '../support/clock.js';
import { whileInsertsFail } from '../support/failing-inserts.js';
import { issueServiceToken } from '../support/service-tokens.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const MERCHANT = { id: 16, name: 'Netflix' };

type Environment = 'development' | 'production';
type Event = Readonly<Record<string, unknown>>;

let service: TestApp;
let token: string;

beforeAll(async () => {
  service = await startTestApp();
  ({ token } = await issueServiceToken(service, ['events:publish']));
});
afterAll(() => service.close());

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
