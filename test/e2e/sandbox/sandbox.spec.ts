import { randomUUID } from 'node:crypto';
import { EVENT_NAMES } from '../../../src/infrastructure/event-catalog/index.js';
import { examplePayload } from '../../../src/modules/webhooks/index.js';
import { eventually } from '../../support/eventually.js';
import { whileInsertsFail } from '../../support/database/failing-inserts.js';
import { error, invalidField, useTestApp, type TestResponse, type Login } from '../../support/test-app.js';
import { useReceiver, type Arrival } from '../../support/webhooks/webhook-receiver.js';

const INVALID_EVENT = `The selected event is invalid. Allowed values: ${EVENT_NAMES.join(', ')}.`;

const LINK = '/development/accounts/link';
const DISCONNECT = '/development/accounts/disconnect';
const DETECT = '/development/detected-accounts';
const TRIGGER = '/development/webhooks/trigger';
const NETFLIX = { id: 16, name: 'Netflix' };
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const DEVELOPMENT_HOOK = '/development';
const PRODUCTION_HOOK = '/production';

const service = useTestApp(
  { WEBHOOK_TARGETS: 'any', WEBHOOK_RETRY_SECONDS: '0,0' },
  { backgroundWork: true },
);
const receiver = useReceiver();
beforeAll(async () => {
  const owner = await service.login('owner');
  await createEndpoint('development', DEVELOPMENT_HOOK, owner);
  await createEndpoint('production', PRODUCTION_HOOK, owner);
});

async function createEndpoint(environment: string, path: string, login: Login): Promise<void> {
  const body = { environment, url: `${receiver.url}${path}` };
  expect((await service.request('/webhook-endpoints/create', { body, login })).status).toBe(200);
}

const post = (path: string, body: unknown, as = service.development): Promise<TestResponse> =>
  service.request(path, { body, as });

async function link(externalUserId: string): Promise<void> {
  expect((await post(LINK, { external_user_id: externalUserId, merchant_id: 16 })).status).toBe(200);
}

const arrivalsOf = (eventId: unknown): Arrival[] =>
  receiver.arrivals.filter(({ headers }) => headers['webhook-id'] === eventId);

/** Returns the event that a response names, which arrives once, at the development endpoint. */
async function arrived({ body }: TestResponse): Promise<Record<string, unknown>> {
  const eventId = body['event_id'];
  const [arrival] = await eventually('the event arrives', () => {
    const arrivals = arrivalsOf(eventId);
    return arrivals.length > 0 && arrivals;
  });
  expect(arrivalsOf(eventId).map(({ path }) => path)).toEqual([DEVELOPMENT_HOOK]);
  return { ...arrival?.event };
}

interface SessionFacts {
  readonly card_id?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

async function addSession(
  externalUserId: string,
  facts: SessionFacts = {},
  as = service.development,
): Promise<string> {
  const body = { type: 'link', external_user_id: externalUserId, ...facts };
  const response = await post('/session/create', body, as);
  expect(response.status).toBe(200);
  return String(response.body['session']);
}

/** Opens a session as the client SDK does, which adds to the metadata. */
async function openSession(session_id: string, metadata: Readonly<Record<string, string>>): Promise<void> {
  expect((await service.request('/session/open', { body: { session_id, metadata } })).status).toBe(200);
}

const NO_ACCESS = error('INVALID_REQUEST', 'NO_ACCESS', 'The sandbox requires development credentials.');
const NO_SESSION = error('SESSION_ERROR', 'SESSION_NOT_FOUND', 'There is no session with this ID.');
const NO_MERCHANT = error('INVALID_REQUEST', 'NOT_FOUND', 'There is no merchant with this id.');

describe.each([
  [LINK, { external_user_id: 'u', merchant_id: 16 }],
  [DISCONNECT, { external_user_id: 'u', merchant_id: 16 }],
  [DETECT, { external_user_id: 'u', merchants: ['Netflix'] }],
  [TRIGGER, { event: 'CARD_UPDATED' }],
])('POST %s', (path, body) => {
  // Only a connected account can be disconnected.
  beforeEach(() => link('u'));

  it('accepts only development credentials, whatever the body', async () => {
    for (const sent of [body, {}, 'not json']) {
      const { status, body: response } = await post(path, sent, service.production);
      expect([status, response]).toEqual([403, NO_ACCESS]);
    }
    expect((await post(path, body)).status).toBe(200);
  });

  it('requires credentials', async () => {
    expect((await service.request(path, { body })).status).toBe(401);
  });

  it('returns the ID of the published event', async () => {
    const response = await post(path, body);
    expect(response.body['event_id']).toMatch(UUID);
    await arrived(response);
  });

  it('requires its fields', async () => {
    const [first = ''] = Object.keys(body);
    const { status, body: response } = await post(path, { ...body, [first]: null });
    const words = first.replaceAll('_', ' ');
    expect([status, response]).toEqual([400, invalidField(`The ${words} field is required.`)]);
  });
});

describe('POST /development/accounts/link', () => {
  it('sends AUTHENTICATED with the card and the metadata of the session', async () => {
    const metadata = { trace_id: 't-1', from: 'the server' };
    const sessionId = await addSession('linker', { card_id: 'card-1', metadata });
    await openSession(sessionId, { from: 'the client', screen: 'cards' });
    const response = await post(LINK, { external_user_id: 'linker', merchant_id: 16, session_id: sessionId });
    expect(response.body).toEqual({
      event_id: expect.stringMatching(UUID),
      task_id: expect.any(Number),
      session_id: sessionId,
    });
    expect(await arrived(response)).toEqual({
      event: 'AUTHENTICATED',
      session_id: sessionId,
      task_id: response.body['task_id'],
      external_user_id: 'linker',
      merchant: NETFLIX,
      data: {
        card_id: 'card-1',
        metadata: { trace_id: 't-1', from: 'the client', screen: 'cards' },
      },
      timestamp: expect.any(Number),
    });
  });

  it('invents a session if none is given', async () => {
    const response = await post(LINK, { external_user_id: 'linker', merchant_id: 16 });
    expect(await arrived(response)).toMatchObject({ session_id: response.body['session_id'] });
    expect((await arrived(response))['data']).toEqual({ card_id: null });
  });

  it('gives every task its own ID', async () => {
    const body = { external_user_id: 'counter', merchant_id: 16 };
    const responses = await Promise.all(Array.from({ length: 20 }, () => post(LINK, body)));
    expect(new Set(responses.map((response) => response.body['task_id'])).size).toBe(20);
  });

  it('returns 404 for unknown sessions and for those of another client or user', async () => {
    const ofOther = await addSession('linker', {}, service.production);
    for (const session_id of [randomUUID(), ofOther, await addSession('somebody else')]) {
      for (const path of [LINK, DISCONNECT]) {
        const { status, body } = await post(path, {
          external_user_id: 'linker',
          merchant_id: 16,
          session_id,
        });
        expect([status, body]).toEqual([404, NO_SESSION]);
      }
    }
  });

  it.each([
    [{ merchant_id: 999_999 }, 404, NO_MERCHANT],
    [{ merchant_id: 0 }, 400, invalidField('The merchant id field must be at least 1.')],
    [
      { merchant_id: 2 ** 31 },
      400,
      invalidField('The merchant id field must not be greater than 2147483647.'),
    ],
    [{ session_id: 'x' }, 400, invalidField('The session id field must be a UUID.')],
  ])('rejects %j', async (change, expectedStatus, expectedBody) => {
    const valid = { external_user_id: 'linker', merchant_id: 16 };
    const { status, body } = await post(LINK, { ...valid, ...change });
    expect([status, body]).toEqual([expectedStatus, expectedBody]);
  });
});

it('POST /development/accounts/disconnect sends ACCOUNT_LOGIN_REQUIRED', async () => {
  await link('leaver');
  const session_id = await addSession('leaver', { metadata: { a: 'b' } });
  const response = await post(DISCONNECT, { external_user_id: 'leaver', merchant_id: 16, session_id });
  expect(await arrived(response)).toEqual({
    event: 'ACCOUNT_LOGIN_REQUIRED',
    external_user_id: 'leaver',
    merchant: NETFLIX,
    data: {},
    timestamp: expect.any(Number),
  });
});

describe('POST /development/detected-accounts', () => {
  const detectedOf = async (user: string, names: string[]): Promise<boolean[]> => {
    const { body } = await service.request<{ detected: boolean }[]>('/detected-accounts/search', {
      body: { external_user_id: user, names },
      as: service.development,
    });
    return body.map(({ detected }) => detected);
  };

  it('sends NEW_DETECTED_ACCOUNTS_AVAILABLE for accounts that the search then finds', async () => {
    const merchants = ['door dash', 16, 'NETFLIX'];
    const response = await post(DETECT, { external_user_id: 'detected', merchants });
    expect(await arrived(response)).toEqual({
      event: 'NEW_DETECTED_ACCOUNTS_AVAILABLE',
      external_user_id: 'detected',
      data: { detected_accounts: [{ id: 19, name: 'DoorDash' }, NETFLIX] },
      timestamp: expect.any(Number),
    });
    expect(await detectedOf('detected', ['Netflix', 'Hulu', 'DoorDash'])).toEqual([true, false, true]);
  });

  it.each(['webhook_event', 'webhook_delivery', 'detected_account'])(
    'records nothing and sends nothing if the insert into %s fails',
    async (table) => {
      const user = `unlucky ${table}`;
      await whileInsertsFail(service, table, async () => {
        const { status } = await post(DETECT, { external_user_id: user, merchants: ['Netflix'] });
        expect(status).toBe(500);
      });
      expect(await detectedOf(user, ['Netflix'])).toEqual([false]);
      const kept = await service.database.query('SELECT 1 FROM webhook_event WHERE external_user_id = $1', [
        user,
      ]);
      expect(kept).toEqual([]);
      // A later event arrives, and the failed one does not.
      await arrived(await post(DETECT, { external_user_id: 'lucky', merchants: ['Netflix'] }));
      expect(receiver.arrivals.filter(({ event }) => event['external_user_id'] === user)).toEqual([]);
    },
  );

  it.each([
    ['an unknown name', ['Netflix', 'Nobody’s Shop'], 404, 'The merchant in merchants[1] does not exist.'],
    ['an unknown id', [999_999], 404, 'The merchant in merchants[0] does not exist.'],
    ['an empty list', [], 400, 'The merchants field is required.'],
    ['an empty name', [''], 400, 'The merchants[0] field is required.'],
    ['a boolean', [true], 400, 'The merchants[0] field must be a string.'],
    ['a fraction', [1.5], 400, 'The merchants[0] field must be an integer.'],
    ['a single name', 'Netflix', 400, 'The merchants field must be an array.'],
    [
      '101 merchants',
      Array(101).fill('Netflix'),
      400,
      'The merchants field must not have more than 100 items.',
    ],
  ])('rejects %s', async (_case, merchants, expected, message) => {
    const { status, body } = await post(DETECT, { external_user_id: 'refused', merchants });
    expect([status, body['error_message']]).toEqual([expected, message]);
    expect(await detectedOf('refused', ['Netflix'])).toEqual([false]);
  });
});

describe('POST /development/webhooks/trigger', () => {
  it.each(EVENT_NAMES)('sends the example of %s', async (event) => {
    const response = await post(TRIGGER, { event });
    const example = examplePayload(event);
    const task = 'task_id' in example ? { task_id: expect.any(Number) } : {};
    expect(await arrived(response)).toEqual({ ...example, ...task, timestamp: expect.any(Number) });
    expect(response.body['task_id']).toEqual('task_id' in example ? expect.any(Number) : null);
  });

  it('replaces values of the example with those of the request', async () => {
    const response = await post(TRIGGER, {
      event: 'CARD_FAILED',
      external_user_id: 'me',
      merchant_id: 19,
      data: { reason: 'Because.', unknown: 1 },
      metadata: { mine: 'yes' },
    });
    expect(await arrived(response)).toMatchObject({
      external_user_id: 'me',
      merchant: { id: 19, name: 'DoorDash' },
      data: { card_id: '81n9al10a0ayn13', reason: 'Because.', metadata: { mine: 'yes' } },
    });
    expect((await arrived(response))['data']).not.toHaveProperty('unknown');
  });

  it('accepts metadata with any keys', async () => {
    const metadata = '{"__proto__":"a","toString":"b","":"c"}';
    const response = await post(TRIGGER, `{"event":"CARD_UPDATED","metadata":${metadata}}`);
    const { metadata: sent } = (await arrived(response))['data'] as { metadata: object };
    expect(JSON.stringify(sent)).toBe(metadata);
  });

  it('uses the user and the metadata of the session', async () => {
    const session_id = await addSession('of the session', { metadata: { a: 'b' } });
    expect(await arrived(await post(TRIGGER, { event: 'CARD_UPDATED', session_id }))).toMatchObject({
      session_id,
      external_user_id: 'of the session',
      data: { metadata: { a: 'b' } },
    });
    const withoutMetadata = await addSession('plain');
    const plain = await post(TRIGGER, { event: 'CARD_UPDATED', session_id: withoutMetadata });
    expect((await arrived(plain))['data']).toEqual({ card_id: '81n9al10a0ayn13' });
  });

  it.each([
    ['an event in lowercase', { event: 'card_updated' }, INVALID_EVENT],
    ['a property of Object as event', { event: 'constructor' }, INVALID_EVENT],
    ['a numeric event', { event: 7 }, INVALID_EVENT],
    ['a list as data', { data: [] }, 'The data field must be an object.'],
    ['a numeric card id', { data: { card_id: 7 } }, 'The data.card id field must be a string.'],
    ['a null card id', { data: { card_id: null } }, 'The data.card id field must be a string.'],
    [
      'a card id that is too long',
      { data: { card_id: 'x'.repeat(501) } },
      'The data.card id field must not be greater than 500 characters.',
    ],
    [
      'an unknown status',
      { event: 'MERCHANT_STATUS_UPDATE', data: { status: 'up' } },
      'The selected data.status is invalid. Allowed values: UP, DOWN.',
    ],
    [
      'a detected account without a name',
      { event: 'NEW_DETECTED_ACCOUNTS_AVAILABLE', data: { detected_accounts: [{ id: 1 }] } },
      'The data.detected accounts[0].name field is required.',
    ],
    ['a numeric metadata value', { metadata: { a: 1 } }, 'The metadata.a field must be a string.'],
  ])('rejects %s', async (_case, change, message) => {
    const { status, body } = await post(TRIGGER, { event: 'CARD_UPDATED', ...change });
    expect([status, body]).toEqual([400, invalidField(message)]);
  });

  it('returns 404 for an unknown session or merchant', async () => {
    const noSession = await post(TRIGGER, { event: 'CARD_UPDATED', session_id: randomUUID() });
    expect([noSession.status, noSession.body]).toEqual([404, NO_SESSION]);
    const noMerchant = await post(TRIGGER, { event: 'CARD_UPDATED', merchant_id: 999_999 });
    expect([noMerchant.status, noMerchant.body]).toEqual([404, NO_MERCHANT]);
  });

  it.each([999_999, 0, -1, 2 ** 31, Number.MAX_SAFE_INTEGER])(
    'returns 404 for detected accounts at the unknown merchant %d',
    async (id) => {
      const data = { detected_accounts: [NETFLIX, { id, name: 'Unknown' }] };
      const { status, body } = await post(TRIGGER, { event: 'NEW_DETECTED_ACCOUNTS_AVAILABLE', data });
      const message = 'The merchant in data.detected accounts[1] does not exist.';
      expect([status, body['error_message']]).toEqual([404, message]);
    },
  );
});

it('The sandbox sends nothing to production endpoints', () => {
  expect(receiver.arrivals.filter(({ path }) => path === PRODUCTION_HOOK)).toEqual([]);
  expect(receiver.arrivals.length).toBeGreaterThan(EVENT_NAMES.length);
});
