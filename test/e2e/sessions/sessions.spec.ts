import { randomUUID } from 'node:crypto';
import { DAY, MINUTE } from '../../../src/infrastructure/time/index.js';
import { Sealer } from '../../../src/infrastructure/crypto/index.js';
import type { IssuedCredentials } from '../../../src/modules/api-clients/index.js';
import { SessionsService } from '../../../src/modules/sessions/index.js';
import { ExpiryJob } from '../../../src/infrastructure/database/index.js';
import { moveClock, stopClock } from '../../support/clock.js';
import { CREATE_SESSION, UNKNOWN_ID } from '../../support/documents/operations.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { countOf, error, invalidField, startTestApp, useTestApp } from '../../support/test-app.js';

const OPENS_PER_MINUTE = 40;
const NOT_FOUND = error('SESSION_ERROR', 'SESSION_NOT_FOUND', 'There is no session with this ID.');
const EXPIRED = { ...NOT_FOUND, error_message: 'The session has expired. Create a new one.' };
const EXTEND_NOT_SUPPORTED = error(
  'SESSION_ERROR',
  'EXTEND_NOT_SUPPORTED',
  'The session has expired. Create a new one.',
);
const CARD_REQUIRED = 'The card id field is required when the type is card_switcher.';
const SELECTED_TYPE =
  'The selected type is invalid. Allowed values: card_switcher, transaction_link, link, vault.';
const TOO_MANY_KEYS = 'The metadata field must not have more than 10 keys.';
const VALID = { type: 'link', external_user_id: 'user-1' };

interface Row {
  readonly client_id: string;
  readonly type: string;
  readonly external_user_id: string;
  readonly card_id: string | null;
  readonly email_sealed: Buffer | null;
  readonly phone_number_sealed: Buffer | null;
  readonly metadata: Record<string, string>;
  readonly created_at: Date;
  readonly expires_at: Date;
}

const service = useTestApp({
  TRUSTED_PROXY_HOPS: '1',
  SESSION_OPENS_PER_MINUTE: String(OPENS_PER_MINUTE),
});
let otherOrganization: IssuedCredentials;
let address = 0;

beforeAll(async () => {
  otherOrganization = (await service.anotherOrganization()).development;
});

const create = (body: unknown, as = service.development) =>
  service.request<{ session: string }>('/session/create', { body, as });
const extend = (session_id: unknown, as = service.development) =>
  service.request('/session/extend', { body: { session_id }, as });
/** Uses a new IP address, to stay below the rate limit. */
const open = (session_id: unknown, metadata?: unknown) =>
  service.request('/session/open', {
    body: { session_id, metadata },
    headers: { 'x-forwarded-for': `10.0.${Math.floor((address += 1) / 256)}.${address % 256}` },
  });

async function created(body: object = {}, as = service.development): Promise<string> {
  const response = await create({ ...VALID, ...body }, as);
  expect(response.status).toBe(200);
  return response.body.session;
}

async function rowOf(id: string): Promise<Row> {
  const [row] = await service.database.query<Row>('SELECT * FROM session WHERE id = $1', [id]);
  if (!row) throw new Error(`There is no session ${id}`);
  return row;
}

async function later(milliseconds: number, work: () => Promise<void>): Promise<void> {
  using _clock = moveClock(service, milliseconds);
  await work();
}

const keys = (count: number, prefix = 'k') =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, 'x']));
describe('POST /session/create', () => {
  it('returns the ID of a session that is valid for 30 minutes', async () => {
    const now = new Date('2026-05-05T10:00:00.123Z');
    using _clock = stopClock(service, now);
    const { status, body } = await create(CREATE_SESSION.body, service.production);
    expect(status).toBe(200);
    expect(body).toEqual({
      session: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/) as string,
    });
    expect(await rowOf(body.session)).toMatchObject({
      client_id: service.production.clientId,
      type: 'card_switcher',
      external_user_id: 'user-1',
      card_id: 'card-81',
      metadata: { order: '4711' },
      created_at: now,
      expires_at: new Date(now.getTime() + 30 * MINUTE),
    });
  });

  it('encrypts personal data', async () => {
    rememberSecret('+12125550187', 'sealed@example.com');
    const id = await created({ email: 'sealed@example.com', phone_number: '+12125550187' });
    const row = await rowOf(id);
    expect(JSON.stringify(row)).not.toMatch(/sealed@|2125550187/);
    const texts = [row.email_sealed, row.phone_number_sealed].map((sealed) => sealed?.toString('latin1'));
    for (const text of texts) expect(text).not.toMatch(/sealed@|2125550187/);
    const sealer = service.app.get(Sealer);
    expect(sealer.open(row.email_sealed as Buffer, ['session', id, 'email'])).toBe('sealed@example.com');
    expect(sealer.open(row.phone_number_sealed as Buffer, ['session', id, 'phone_number'])).toBe(
      '+12125550187',
    );
    expect(() => sealer.open(row.email_sealed as Buffer, ['session', UNKNOWN_ID, 'email'])).toThrow();
  });

  it.each([
    [{ type: 'transaction_link' }],
    [{ type: 'vault', card_id: 'card-81' }],
    [{ card_id: null, email: null, phone_number: null, metadata: null }],
    [{ card_id: ' ', email: '', phone_number: '' }],
    [{ metadata: {} }],
    [{ metadata: { ...keys(9), last: '😀'.repeat(500) } }],
    [{ metadata: { empty: '', ' ': ' ' } }],
    [{ external_user_id: '😀'.repeat(256), unknown_member: 1 }],
  ])('accepts %j', async (body) => {
    await created(body);
  });

  it.each([
    ['The type field is required.', { type: undefined }],
    [SELECTED_TYPE, { type: 'LINK' }],
    [SELECTED_TYPE, { type: ['link'] }],
    ['The external user id field is required.', { external_user_id: undefined }],
    ['The external user id field must be a string.', { external_user_id: 7 }],
    [CARD_REQUIRED, { type: 'card_switcher' }],
    ['The card id field must be a string.', { card_id: 81 }],
    ['The card id field must not be greater than 256 characters.', { card_id: 'x'.repeat(257) }],
    ['The email field must be a valid email address.', { email: 'ada' }],
    ['The email field must be a string.', { email: 7 }],
    ['The phone number format is invalid. Use the format +12125550123.', { phone_number: '2125550123' }],
    [
      'The phone number must be a valid number in a supported country. Supported: US, CA.',
      { phone_number: '+442071838750' },
    ],
    ['The metadata field must be an object.', { metadata: 'x' }],
    ['The metadata field must be an object.', { metadata: [] }],
    ['The metadata field must be an object.', { metadata: 7 }],
    [TOO_MANY_KEYS, { metadata: keys(11) }],
    ['The metadata.order field must be a string.', { metadata: { order: 4711 } }],
    ['The metadata.order field must be a string.', { metadata: { order: null } }],
    ['The metadata.order field must be a string.', { metadata: { order: {} } }],
    ['The metadata values field must be a string.', { metadata: { 'ä ö': 1 } }],
    [
      'The metadata.order field must not be greater than 500 characters.',
      { metadata: { order: '😀'.repeat(501) } },
    ],
    [
      'The metadata.order field must not contain null characters or unpaired surrogates.',
      { metadata: { order: 'a\0b' } },
    ],
    [
      'The metadata keys field must not contain null characters or unpaired surrogates.',
      { metadata: { 'a\0b': 'x' } },
    ],
    [
      'The metadata keys field must not be greater than 500 characters.',
      { metadata: { ['k'.repeat(501)]: 'x' } },
    ],
    // Only the first problem is reported, in the order of the fields.
    [CARD_REQUIRED, { type: 'card_switcher', email: 'ada', phone_number: 'x', metadata: 7 }],
    ['The email field must be a valid email address.', { email: 'ada', phone_number: 'x' }],
  ])('rejects a body: %s', async (message, change) => {
    const count = 'SELECT count(*) FROM session';
    const before = await service.database.query(count);
    const { status, body } = await create({ ...VALID, ...change });
    expect([status, body]).toEqual([400, invalidField(message)]);
    expect(await service.database.query(count)).toEqual(before);
  });

  it('rejects unpaired surrogates in values and keys', async () => {
    for (const metadata of ['{"a":"\\ud83d"}', '{"\\ud83d":"a"}']) {
      const { status } = await create(`{"type":"link","external_user_id":"u","metadata":${metadata}}`);
      expect(status).toBe(400);
    }
  });
});

describe('POST /session/extend', () => {
  it('adds 30 minutes to the remaining time', async () => {
    const id = await created();
    const { expires_at: first } = await rowOf(id);
    for (const round of [1, 2]) {
      const { status, body } = await extend(id);
      const expected = new Date(first.getTime() + round * 30 * MINUTE);
      expect([status, body]).toEqual([200, { session: id, expires_at: expected.toISOString() }]);
      expect((await rowOf(id)).expires_at).toEqual(expected);
    }
  });

  it('extends the session once with an idempotency key, which belongs to one session', async () => {
    const sessions = await Promise.all([created(), created()]);
    const headers = { 'Idempotency-Key': randomUUID() };
    const responses = [];
    for (const session_id of [sessions[0], sessions[0], sessions[1]])
      responses.push(
        await service.request('/session/extend', { body: { session_id }, as: service.development, headers }),
      );
    const [first, repeated, other] = responses;
    expect([first?.status, repeated?.body]).toEqual([200, first?.body]);
    expect([other?.status, other?.body['error_code']]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
  });

  it('extends the session once for each of 20 concurrent requests', async () => {
    const id = await created();
    const { expires_at: before } = await rowOf(id);
    const responses = await Promise.all(Array.from({ length: 20 }, () => extend(id)));
    expect(countOf(responses, 200)).toBe(20);
    expect(new Set(responses.map(({ body }) => body['expires_at'])).size).toBe(20);
    expect((await rowOf(id)).expires_at).toEqual(new Date(before.getTime() + 600 * MINUTE));
  });

  it('rejects a request once the session has expired', async () => {
    const id = await created();
    const { expires_at: end } = await rowOf(id);
    {
      using _clock = stopClock(service, end);
      const late = await extend(id);
      expect([late.status, late.body]).toEqual([400, EXTEND_NOT_SUPPORTED]);
    }
    expect((await rowOf(id)).expires_at).toEqual(end);
    using _clock = stopClock(service, new Date(end.getTime() - 1));
    expect((await extend(id)).status).toBe(200);
  });

  it('returns 404 for unknown sessions and sessions of other clients', async () => {
    const id = await created();
    const before = await rowOf(id);
    for (const response of [
      await extend(randomUUID()),
      await extend(id, otherOrganization),
      // Another client of the same organization.
      await extend(id, service.production),
    ])
      expect([response.status, response.body]).toEqual([404, NOT_FOUND]);
    await later(31 * MINUTE, async () => expect((await extend(id, otherOrganization)).status).toBe(404));
    expect(await rowOf(id)).toEqual(before);
  });
});

describe('POST /session/open', () => {
  it('merges metadata, with SDK values taking precedence, and returns no metadata', async () => {
    const id = await created({ metadata: { order: 'backend', plan: 'gold' } });
    const { expires_at } = await rowOf(id);
    const { status, body } = await open(id, { order: 'sdk', screen: 'home' });
    expect([status, body]).toEqual([200, { session: id, expires_at: expires_at.toISOString() }]);
    expect((await rowOf(id)).metadata).toEqual({ order: 'sdk', plan: 'gold', screen: 'home' });
    for (const metadata of [undefined, null, {}]) expect((await open(id, metadata)).status).toBe(200);
    expect((await rowOf(id)).metadata).toEqual({ order: 'sdk', plan: 'gold', screen: 'home' });
  });

  it('limits the merged metadata', async () => {
    const id = await created({ metadata: keys(8) });
    const refused = await open(id, keys(3, 'l'));
    expect([refused.status, refused.body]).toEqual([400, invalidField(TOO_MANY_KEYS)]);
    expect((await rowOf(id)).metadata).toEqual(keys(8));
    expect((await open(id, { ...keys(2, 'l'), k0: 'changed' })).status).toBe(200);
    expect(Object.keys((await rowOf(id)).metadata)).toHaveLength(10);
    expect((await open(id, { k0: 'again' })).status).toBe(200);
  });

  it('accepts exactly 6 of 24 concurrent requests that each add a key', async () => {
    const id = await created({ metadata: keys(4) });
    const responses = await Promise.all(
      Array.from({ length: 24 }, (_, index) => open(id, { [`key-${index}`]: String(index) })),
    );
    expect([countOf(responses, 200), countOf(responses, 400)]).toEqual([6, 18]);
    const added = responses.flatMap(({ status }, index) =>
      status === 200 ? [[`key-${index}`, String(index)]] : [],
    );
    expect((await rowOf(id)).metadata).toEqual({ ...keys(4), ...Object.fromEntries(added) });
  });

  it.each([
    ['The session id field is required.', {}],
    ['The session id field must be a string.', { session_id: 7 }],
    ['The session id field must be a UUID.', { session_id: 'x' }],
    ['The metadata field must be an object.', { session_id: UNKNOWN_ID, metadata: 7 }],
    [TOO_MANY_KEYS, { session_id: UNKNOWN_ID, metadata: keys(11) }],
    ['The session id field must be a UUID.', { session_id: 'x', metadata: 7 }],
  ])('rejects a body: %s', async (message, body) => {
    const response = await service.request('/session/open', { body });
    expect([response.status, response.body]).toEqual([400, invalidField(message)]);
    if ('metadata' in body) return;
    const extension = await service.request('/session/extend', { body, as: service.development });
    expect([extension.status, extension.body]).toEqual([400, invalidField(message)]);
  });

  it('does not find unknown or expired sessions', async () => {
    const id = await created();
    const before = await rowOf(id);
    const absent = await open(randomUUID());
    expect([absent.status, absent.body]).toEqual([404, NOT_FOUND]);
    {
      using _clock = stopClock(service, before.expires_at);
      const late = await open(id, { order: 'late' });
      expect([late.status, late.body]).toEqual([404, EXPIRED]);
    }
    expect(await rowOf(id)).toEqual(before);
    expect((await open(id.toUpperCase())).body).toMatchObject({ session: id });
  });

  it('is limited per IP address', async () => {
    const from = (ip: string) =>
      service.request('/session/open', {
        body: { session_id: UNKNOWN_ID },
        headers: { 'x-forwarded-for': ip },
      });
    const responses = await Promise.all(
      Array.from({ length: OPENS_PER_MINUTE + 20 }, () => from('203.0.113.7')),
    );
    expect([countOf(responses, 404), countOf(responses, 429)]).toEqual([OPENS_PER_MINUTE, 20]);
    const refused = responses.find(({ status }) => status === 429);
    expect(refused?.body['error_code']).toBe('TOO_MANY_REQUESTS');
    expect(refused?.headers.get('retry-after')).toBe(String(refused?.body['retry_after']));
    expect((await from('203.0.113.8')).status).toBe(404);
  });
});

describe('The request log entry of a session operation', () => {
  const entries = (status: number) =>
    service.database.query(
      `SELECT client_id, environment, path, status_code, session_id, external_user_id
         FROM request_log WHERE status_code = $1 ORDER BY id`,
      [status],
    );
  const entry = (path: string, status: number, session: string | null, user: string | null) => ({
    client_id: service.development.clientId,
    environment: 'development',
    path,
    status_code: status,
    session_id: session,
    external_user_id: user,
  });
  beforeEach(() => service.database.query('DELETE FROM request_log'));

  it('names the session and its user', async () => {
    const id = await created({ external_user_id: 'logged' });
    await extend(id);
    await open(id, { order: '4711' });
    expect(await entries(200)).toEqual([
      entry('/session/create', 200, id, 'logged'),
      entry('/session/extend', 200, id, 'logged'),
      entry('/session/open', 200, id, 'logged'),
    ]);
  });

  it('names the session and its user even if the request is rejected', async () => {
    const id = await created({ external_user_id: 'logged' });
    await open(id, keys(10));
    await open(id, { more: 'x' });
    await later(31 * MINUTE, async () => {
      await extend(id);
      await open(id);
    });
    await extend(UNKNOWN_ID);
    await extend('no session');
    await create({ ...VALID, type: 'x' });
    expect(await entries(400)).toEqual([
      entry('/session/open', 400, id, 'logged'),
      entry('/session/extend', 400, id, 'logged'),
      entry('/session/extend', 400, null, null),
      entry('/session/create', 400, null, 'user-1'),
    ]);
    expect(await entries(404)).toEqual([
      entry('/session/open', 404, id, 'logged'),
      entry('/session/extend', 404, UNKNOWN_ID, null),
    ]);
  });

  it('never names a user of another client', async () => {
    const id = await created({ external_user_id: 'logged' });
    await extend(id, otherOrganization);
    expect(await entries(404)).toEqual([
      { ...entry('/session/extend', 404, id, null), client_id: otherOrganization.clientId },
    ]);
  });

  it('is not written if the opened session is unknown', async () => {
    await open(randomUUID());
    expect(await entries(404)).toEqual([]);
  });
});

describe('SessionsService.detailsOf()', () => {
  const details = (id: string, clientId = service.development.clientId) =>
    service.app.get(SessionsService).detailsOf(clientId, id);

  it('returns the user, card and metadata, even after the session has expired', async () => {
    const id = await created({ external_user_id: 'u', card_id: 'c', metadata: { order: '4711' } });
    const expected = { externalUserId: 'u', cardId: 'c', metadata: { order: '4711' } };
    expect(await details(id)).toEqual(expected);
    await later(29 * DAY, async () => {
      await service.app.get(ExpiryJob).run();
      expect(await details(id)).toEqual(expected);
    });
  });

  it('returns no metadata if none was attached, and nothing for sessions of other clients', async () => {
    const id = await created();
    expect(await details(id)).toEqual({ externalUserId: 'user-1', cardId: null, metadata: undefined });
    expect(await details(id, service.production.clientId)).toBeUndefined();
    expect(await details(UNKNOWN_ID)).toBeUndefined();
    expect(await details('no session')).toBeUndefined();
  });

  it('returns nothing from 30 days after the expiry, when sessions are deleted in batches', async () => {
    const living = await created();
    await service.database.query(
      `INSERT INTO session (id, client_id, type, external_user_id, created_at, expires_at)
       SELECT gen_random_uuid(), $1, 'link', 'old', now(), now() - make_interval(days => 30, mins => n % 3)
         FROM generate_series(1, 2500) n`,
      [service.development.clientId],
    );
    await later(-MINUTE, () => service.app.get(ExpiryJob).run());
    const count = async () =>
      (await service.database.query(`SELECT 1 FROM session WHERE external_user_id = 'old'`)).length;
    expect(await count()).toBeGreaterThan(800);
    await service.app.get(ExpiryJob).run();
    expect(await count()).toBe(0);
    expect((await rowOf(living)).external_user_id).toBe('user-1');
  });
});

// Must be last: @Transactional() uses the application that was started last in the process.
it('does not find sessions of the other environment on a pinned host', async () => {
  await using pinned = await startTestApp({ PIN_ENVIRONMENT: 'production' });

  await pinned.database.query(
    `INSERT INTO session (id, client_id, type, external_user_id, created_at, expires_at)
       VALUES ($1, $2, 'link', 'u', now(), now() + interval '1 hour')`,
    [UNKNOWN_ID, pinned.development.clientId],
  );
  const body = { session_id: UNKNOWN_ID };
  expect((await pinned.request('/session/open', { body })).status).toBe(404);
  await pinned.database.query('UPDATE session SET client_id = $1', [pinned.production.clientId]);
  expect((await pinned.request('/session/open', { body })).status).toBe(200);
});
