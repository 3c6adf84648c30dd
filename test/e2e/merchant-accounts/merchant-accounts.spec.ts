import { randomUUID } from 'node:crypto';
import { whileInsertsFail } from '../../support/database/failing-inserts.js';
import { UNLINK_ACCOUNT } from '../../support/documents/operations.js';
import {
  error,
  invalidField,
  useTestApp,
  type RequestOptions,
  type TestApp,
  type TestResponse,
  INVALID_CURSOR,
  useLogin,
} from '../../support/test-app.js';
import { expectUsualErrors } from '../../support/http/usual-errors.js';

const LIST = '/merchant-accounts';
const NETFLIX = { id: 16, name: 'Netflix' };
const DOORDASH = { id: 19, name: 'DoorDash' };
const NOT_FOUND = error(
  'MERCHANT_ACCOUNT_ERROR',
  'MERCHANT_ACCOUNT_NOT_FOUND',
  'The user has no account at this merchant.',
);
const DISCONNECTED = error(
  'MERCHANT_ACCOUNT_ERROR',
  'MERCHANT_ACCOUNT_DISCONNECTED',
  'The account at this merchant is disconnected.',
);

interface Account {
  readonly merchant: { readonly id: number; readonly name: string };
  readonly state: string;
  readonly since: string;
  readonly session_id: string;
}
interface AccountPage {
  readonly data: readonly Account[];
  readonly next_cursor: string | null;
}

const service = useTestApp();
const owner = useLogin(service, 'owner');

const change = (
  action: 'link' | 'disconnect',
  user: string,
  merchant_id = NETFLIX.id,
  more: object = {},
): Promise<TestResponse> =>
  service.request(`/development/accounts/${action}`, {
    body: { external_user_id: user, merchant_id, ...more },
    as: service.development,
  });

/** @returns the session that the link invents */
async function link(user: string, merchant?: number): Promise<string> {
  const { status, body } = await change('link', user, merchant);
  expect(status).toBe(200);
  return String(body['session_id']);
}

type Credentials = Parameters<TestApp['request']>[1];
const request = (
  query: Readonly<Record<string, string | number>>,
  credentials: Credentials = { as: service.development },
) =>
  service.request<AccountPage>(
    `${LIST}?${new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))}`,
    credentials,
  );

async function accountsOf(
  external_user_id: string,
  credentials?: Credentials,
  more: Record<string, string> = {},
): Promise<readonly Account[]> {
  const { status, body } = await request({ external_user_id, ...more }, credentials);
  expect([status, body.next_cursor]).toEqual([200, null]);
  return body.data;
}

/** Returns the user's events in the order of their timestamps, then in that in which they were published. */
const eventsOf = (user: string) =>
  service.database.query<{ event: string; session_id: string | null }>(
    'SELECT event, session_id FROM webhook_event WHERE external_user_id = $1 ORDER BY created_at, position',
    [user],
  );
const eventNamesOf = async (user: string): Promise<string[]> =>
  (await eventsOf(user)).map(({ event }) => event);

describe('A merchant account', () => {
  it('is connected after the user signs in, and shows the time and the session', async () => {
    const before = Date.now();
    const session_id = await link('a');
    const accounts = await accountsOf('a');
    expect(accounts).toEqual([
      { merchant: NETFLIX, state: 'connected', since: expect.any(String) as string, session_id },
    ]);
    const since = Date.parse(accounts[0]?.since ?? '');
    expect(since).toBeGreaterThanOrEqual(before);
    expect(since).toBeLessThanOrEqual(Date.now());
  });

  it('is disconnected after the merchant requires a login, and connected again by the next session', async () => {
    const session_id = await link('b');
    const [connected] = await accountsOf('b');
    expect((await change('disconnect', 'b')).status).toBe(200);
    const [disconnected] = await accountsOf('b');
    expect(disconnected).toMatchObject({ state: 'disconnected', session_id });
    expect(Date.parse(disconnected?.since ?? '')).toBeGreaterThan(Date.parse(connected?.since ?? ''));
    const next = await link('b');
    expect(next).not.toBe(session_id);
    const [again] = await accountsOf('b');
    expect(again).toMatchObject({ state: 'connected', session_id: next });
    expect(Date.parse(again?.since ?? '')).toBeGreaterThan(Date.parse(disconnected?.since ?? ''));
  });

  it('keeps the newest session if the user signs in again while it is connected', async () => {
    await link('again');
    const session_id = await link('again');
    expect(await accountsOf('again')).toMatchObject([{ state: 'connected', session_id }]);
  });

  it('cannot be disconnected if the user has never signed in to the merchant', async () => {
    await link('c', DOORDASH.id);
    const { status, body } = await change('disconnect', 'c');
    expect([status, body]).toEqual([404, NOT_FOUND]);
    expect(await accountsOf('c')).toMatchObject([{ merchant: DOORDASH, state: 'connected' }]);
    expect(await eventNamesOf('c')).toEqual(['AUTHENTICATED']);
  });

  it('cannot be disconnected twice', async () => {
    await link('d');
    await change('disconnect', 'd');
    const before = await accountsOf('d');
    const { status, body } = await change('disconnect', 'd');
    expect([status, body]).toEqual([409, DISCONNECTED]);
    expect(await accountsOf('d')).toEqual(before);
    expect(await eventNamesOf('d')).toEqual(['AUTHENTICATED', 'ACCOUNT_LOGIN_REQUIRED']);
  });

  it('does not change if its event cannot be published', async () => {
    await link('e');
    const before = await accountsOf('e');
    await whileInsertsFail(service, 'webhook_event', async () => {
      expect((await change('link', 'f')).status).toBe(500);
      expect((await change('link', 'e')).status).toBe(500);
      expect((await change('disconnect', 'e')).status).toBe(500);
    });
    expect(await accountsOf('f')).toEqual([]);
    expect(await accountsOf('e')).toEqual(before);
  });

  it('has the state of its last event after 20 concurrent links and disconnections', async () => {
    await link('racer');
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => change(index % 2 === 0 ? 'disconnect' : 'link', 'racer')),
    );
    for (const { status } of responses) expect([200, 409]).toContain(status);
    const events = await eventsOf('racer');
    expect(events).toHaveLength(1 + responses.filter(({ status }) => status === 200).length);
    // Only a connected account was disconnected.
    const names = events.map(({ event }) => event);
    expect(names.join()).not.toContain('ACCOUNT_LOGIN_REQUIRED,ACCOUNT_LOGIN_REQUIRED');
    const state = names.at(-1) === 'AUTHENTICATED' ? 'connected' : 'disconnected';
    const sessions = events.filter(({ event }) => event === 'AUTHENTICATED').map((event) => event.session_id);
    const [account, ...others] = await accountsOf('racer');
    expect(account).toMatchObject({ merchant: NETFLIX, state });
    expect(others).toEqual([]);
    // A link that waited until a disconnection with a later timestamp was committed changes nothing.
    expect(state === 'connected' ? [sessions.at(-1)] : sessions).toContain(account?.['session_id']);
  });

  it('is connected once by 20 concurrent first links, each of which publishes an event', async () => {
    const sessions = await Promise.all(Array.from({ length: 20 }, () => link('first')));
    const events = await eventsOf('first');
    expect(events.map(({ session_id }) => session_id).toSorted()).toEqual(sessions.toSorted());
    expect(await accountsOf('first')).toMatchObject([
      { state: 'connected', session_id: events.at(-1)?.session_id },
    ]);
  });
});

/** `merchant-gateway.spec.ts` tests what it does. */
describe('POST /accounts/unlink', () => {
  const { path, body } = UNLINK_ACCOUNT;
  const unlink = (options: RequestOptions): Promise<TestResponse> =>
    service.request(path, { method: 'POST', as: service.development, ...options });

  it.each([
    ['no user', { merchant_id: 16 }, 'The external user id field is required.'],
    ['no merchant', { external_user_id: 'user-1' }, 'The merchant id field is required.'],
    ['a merchant that is no ID', { ...body, merchant_id: 'x' }, 'The merchant id field must be an integer.'],
  ])('refuses a request with %s', async (_, sent, message) => {
    expect(await unlink({ body: sent })).toMatchObject({ status: 400, body: invalidField(message) });
  });

  it('responds with the usual errors', () => expectUsualErrors(service, path, 'merchant_account', { body }));
});

describe('GET /merchant-accounts', () => {
  it('shows the accounts of one user, client and environment only', async () => {
    await link('shared');
    const other = await service.anotherOrganization();
    const strangers: readonly (readonly [string, Credentials])[] = [
      ['somebody', { as: service.development }],
      ['shared', { as: service.production }],
      ['shared', { as: other.development }],
    ];
    for (const [user, credentials] of strangers) expect(await accountsOf(user, credentials)).toEqual([]);
    expect(await accountsOf('shared')).toHaveLength(1);
  });

  it('returns pages in the order of the merchants, which does not change when an account changes its state', async () => {
    const merchants = [19, 3, 16, 7, 11];
    for (const id of merchants) await link('pager', id);
    const read: number[] = [];
    const sizes: number[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await request({ external_user_id: 'pager', limit: 2, ...(cursor && { cursor }) });
      read.push(...body.data.map(({ merchant }) => merchant.id));
      sizes.push(body.data.length);
      await change('disconnect', 'pager', body.data[0]?.merchant.id);
      cursor = body.next_cursor;
    }
    expect([read, sizes]).toEqual([merchants.toSorted((a, b) => a - b), [2, 2, 1]]);
    // Exactly one page.
    expect((await request({ external_user_id: 'pager', limit: 5 })).body.next_cursor).toBeNull();
  });

  it('accepts a cursor only for the user and the client that it was issued for', async () => {
    for (const id of [16, 19]) await link('cursor', id);
    const cursor = String((await request({ external_user_id: 'cursor', limit: 1 })).body.next_cursor);
    const uses: readonly (readonly [string, string, Credentials?])[] = [
      ['cursor', 'made-up'],
      ['pager', cursor],
      ['cursor', cursor, { as: service.production }],
    ];
    for (const [external_user_id, sent, credentials] of uses) {
      const { status, body } = await request({ external_user_id, cursor: sent }, credentials);
      expect([status, body]).toEqual([400, INVALID_CURSOR]);
    }
    expect((await request({ external_user_id: 'cursor', cursor })).body.data).toMatchObject([
      { merchant: DOORDASH },
    ]);
  });

  it.each([
    [{}, 'The external user id field is required.'],
    [{ external_user_id: 'a', limit: 51 }, 'The limit field must not be greater than 50.'],
    [{ external_user_id: 'a', state: 'connected' }, 'The query parameter state is not known.'],
    [
      { external_user_id: 'x'.repeat(257) },
      'The external user id field must not be greater than 256 characters.',
    ],
  ])('rejects %j', async (query, message) => {
    const { status, body } = await request(query);
    expect([status, body]).toEqual([400, invalidField(message)]);
  });

  it('accepts the environment of the client only', async () => {
    expect((await request({ external_user_id: 'a', environment: 'development' })).status).toBe(200);
    const { status, body } = await request({ external_user_id: 'a', environment: 'production' });
    expect([status, body]).toEqual([
      403,
      error('INVALID_REQUEST', 'ENVIRONMENT_MISMATCH', 'The environment must be that of the client.'),
    ]);
  });

  it('adds an entry to the request log of the user', async () => {
    const user = randomUUID();
    await accountsOf(user);
    const { body } = await service.request<{ data: object[] }>(
      `/request-logs?environment=development&external_user_id=${user}`,
      { login: owner },
    );
    expect(body.data).toMatchObject([{ method: 'GET', path: LIST, status_code: 200 }]);
  });

  it('returns the usual errors', () =>
    expectUsualErrors(service, `${LIST}?external_user_id=a`, 'merchant_account'));
});
