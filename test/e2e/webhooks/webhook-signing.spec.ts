import { createPublicKey, verify as verifyBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { AnyEvent } from '../../../src/infrastructure/event-catalog/index.js';
import { EndpointKeys } from '../../../src/modules/webhook-endpoints/index.js';
import { WebhookPublisher } from '../../../src/modules/webhooks/index.js';
import { LOCK_DUE_LANES } from '../../../src/modules/webhooks/queue/sql/lock-due-lanes.js';
import { serviceSignature } from '../../../src/modules/webhooks/signing/delivery-headers.js';
import { auditEntries } from '../../support/logs/audited.js';
import { moveClock } from '../../support/clock.js';
import { eventually } from '../../support/eventually.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { error, invalidField, useLogin, useTestApp } from '../../support/test-app.js';
import { queueIsEmpty, useReceiver, type Arrival } from '../../support/webhooks/webhook-receiver.js';

const HOUR = 3_600_000;
const EVENT: AnyEvent = {
  event: 'CARD_UPDATED',
  sessionId: 'fb5aa994-ed1c-4c3e-b29a-b2a53222e584',
  taskId: 25_605,
  externalUserId: 'user-1',
  merchant: { id: 16, name: 'Netflix' },
  data: { card_id: '81n9al10a0ayn13' },
};
const ROTATING = error(
  'WEBHOOK_ENDPOINT_ERROR',
  'WEBHOOK_ENDPOINT_KEY_ROTATING',
  'A rotation is in progress: the previous key still signs. A rotation with an overlap of 0 hours makes a third key, and both others stop signing at once.',
);

interface Endpoint extends Record<string, unknown> {
  readonly id: string;
  readonly signing: string;
  readonly signing_key?: string;
  readonly public_key: string | null;
  readonly header_names: readonly string[];
}

const service = useTestApp(
  { WEBHOOK_TARGETS: 'any', WEBHOOK_RETRY_SECONDS: '0,0', TRUSTED_PROXY_HOPS: '1' },
  { backgroundWork: true },
);
const receiver = useReceiver();
const owner = useLogin(service);
let number = 0;

beforeEach(async () => {
  await service.database.query('DELETE FROM webhook_endpoint');
  receiver.arrivals.length = 0;
  receiver.response = 200;
});

const create = (body: object) =>
  service.request<Endpoint>('/webhook-endpoints/create', {
    body: { environment: 'development', url: `${receiver.url}/${(number += 1)}`, ...body },
    login: owner,
  });
async function created(body: object): Promise<Endpoint> {
  const response = await create(body);
  expect(response.status).toBe(200);
  const { signing_key: key } = response.body;
  if (key) rememberSecret(key);
  return response.body;
}
const get = async (id: string): Promise<Endpoint> =>
  (await service.request<Endpoint>(`/webhook-endpoints/${id}`, { login: owner })).body;
const patch = (id: string, body: object) =>
  service.request<Endpoint>(`/webhook-endpoints/${id}`, { method: 'PATCH', body, login: owner });
const rotate = (id: string, body: object = {}, headers: Record<string, string> = {}) =>
  service.request<Endpoint>(`/webhook-endpoints/${id}/rotate-key`, { body, headers, login: owner });
const publish = (): Promise<string> =>
  service.app
    .get(WebhookPublisher)
    .publish({ clientId: service.development.clientId, environment: 'development' }, EVENT);

/** Publishes an event and returns the delivery of it. */
async function delivered(): Promise<Arrival> {
  receiver.arrivals.length = 0;
  await publish();
  const [arrival] = await receiver.arrived(1);
  await queueIsEmpty(service);
  return arrival as Arrival;
}

const signaturesOf = ({ headers }: Arrival): string[] => String(headers['webhook-signature']).split(' ');
const signedOf = ({ headers, body }: Arrival): Buffer =>
  Buffer.concat([Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`), body]);

/** Whether a signature is of the key: `whsec_` or `whpk_`. */
function isBy(key: string | null | undefined, arrival: Arrival, signature: string): boolean {
  if (key?.startsWith('whpk_')) {
    const x = Buffer.from(key.slice(5), 'base64').toString('base64url');
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    const given = Buffer.from(signature.replace('v1a,', ''), 'base64');
    return signature.startsWith('v1a,') && verifyBytes(null, signedOf(arrival), publicKey, given);
  }
  const standard = key?.startsWith('whsec_')
    ? new Webhook(key)
    : new Webhook(Buffer.from(String(key)), { format: 'raw' });
  const { 'webhook-id': id, 'webhook-timestamp': timestamp } = arrival.headers;
  return standard.sign(String(id), new Date(Number(timestamp) * 1000), arrival.body) === signature;
}
/** Returns for each signature which of the keys made it. */
const signersOf = (arrival: Arrival, ...keys: (string | null | undefined)[]): number[] =>
  signaturesOf(arrival).map((signature) => keys.findIndex((key) => isBy(key, arrival, signature)));

const expectServiceSignature = ({ headers, body }: Arrival): void =>
  expect(headers['service-signature']).toBe(
    serviceSignature(
      { event: 'CARD_UPDATED', sessionId: EVENT.sessionId as string, contentLength: body.length },
      service.development.secret,
    ),
  );

describe('The signing of an endpoint', () => {
  it('is that of the client by default', async () => {
    const endpoint = await created({});
    expect(endpoint).toMatchObject({ signing: 'client', public_key: null, header_names: [] });
    expect(endpoint).not.toHaveProperty('signing_key');
    const arrival = await delivered();
    expect(signersOf(arrival, service.development.secret)).toEqual([0]);
  });

  it('can be a secret that only the endpoint has', async () => {
    const { id, signing_key: key, ...endpoint } = await created({ signing: 'hmac' });
    expect(key).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(endpoint).toMatchObject({ signing: 'hmac', public_key: null, previous_key_expires_at: null });
    const arrival = await delivered();
    expect(signersOf(arrival, key, service.development.secret)).toEqual([0]);
    expectServiceSignature(arrival);
    expect(await get(id)).not.toHaveProperty('signing_key');
  });

  it('can be a private key that never leaves the service', async () => {
    const { id, public_key: key, ...endpoint } = await created({ signing: 'ed25519' });
    expect(key).toMatch(/^whpk_[A-Za-z0-9+/]{43}=$/);
    expect(endpoint).not.toHaveProperty('signing_key');
    expect(await get(id)).toMatchObject({ signing: 'ed25519', public_key: key });
    const arrival = await delivered();
    expect(signersOf(arrival, key)).toEqual([0]);
    expectServiceSignature(arrival);
  });

  it('is used for tests', async () => {
    const { id, signing_key: key } = await created({ signing: 'hmac' });
    const { status, body } = await service.request(`/webhook-endpoints/${id}/test`, {
      body: {},
      login: owner,
    });
    expect([status, body['received']]).toEqual([200, true]);
    const [arrival] = await receiver.arrived(1);
    expect(signersOf(arrival as Arrival, key)).toEqual([0]);
  });

  it('is used for events that are sent again', async () => {
    const { id } = await created({});
    const { headers } = await delivered();
    const { signing_key: key } = (await rotate(id, { signing: 'hmac', overlap_hours: 0 })).body;
    rememberSecret(String(key));
    receiver.arrivals.length = 0;
    const again = { body: { event_id: headers['webhook-id'] }, login: owner };
    expect((await service.request(`/webhook-endpoints/${id}/redeliver`, again)).status).toBe(200);
    const [arrival] = await receiver.arrived(1);
    expect(signersOf(arrival as Arrival, key, service.development.secret)).toEqual([0]);
    await queueIsEmpty(service);
  });

  it('keeps the signature of the client during the overlap of a change', async () => {
    const { id } = await created({});
    const { body: changed } = await patch(id, { signing: 'hmac' });
    rememberSecret(String(changed.signing_key));
    expect(changed['previous_key_expires_at']).not.toBeNull();
    const { secret } = service.development;
    expect(signersOf(await delivered(), secret, changed.signing_key)).toEqual([0, 1]);
    expect((await patch(id, { signing: 'hmac' })).body).not.toHaveProperty('signing_key');
    expect(await patch(id, { signing: 'ed25519' })).toMatchObject({ status: 409, body: ROTATING });
    using _clock = moveClock(service, 25 * HOUR);
    expect(signersOf(await delivered(), secret, changed.signing_key)).toEqual([1]);
  });
});

describe('POST /webhook-endpoints/{id}/rotate-key', () => {
  it('adds a signature, makes it the first one when the key is activated, and ends the old one', async () => {
    const { id, signing_key: old } = await created({ signing: 'hmac' });
    const { status, body } = await rotate(id, { overlap_hours: 2 });
    rememberSecret(String(body.signing_key));
    expect([status, body.signing]).toEqual([200, 'hmac']);
    const key = body.signing_key;
    expect(signersOf(await delivered(), old, key)).toEqual([0, 1]);
    expect(await rotate(id)).toMatchObject({ status: 409, body: ROTATING });
    await service.database.query(
      `UPDATE webhook_endpoint_key SET signs_from = created_at WHERE endpoint_id = $1 AND version = 2`,
      [id],
    );
    await service.database.query(
      'UPDATE webhook_endpoint SET signing_revision = signing_revision + 1 WHERE id = $1',
      [id],
    );
    expect(signersOf(await delivered(), old, key)).toEqual([1, 0]);
    using _clock = moveClock(service, 3 * HOUR);
    expect(signersOf(await delivered(), old, key)).toEqual([1]);
  });

  it('ends all earlier keys without an overlap, also during another one', async () => {
    const { id, public_key: first } = await created({ signing: 'ed25519' });
    const { public_key: second } = (await rotate(id)).body;
    const { body } = await rotate(id, { overlap_hours: 0 });
    expect(body).toMatchObject({ signing: 'ed25519', previous_key_expires_at: null });
    expect(signersOf(await delivered(), first, second, body.public_key)).toEqual([2]);
  });

  it('keeps the keys of deliveries in progress alone, however often it is called', async () => {
    const { id } = await created({ signing: 'ed25519' });
    for (let rotation = 0; rotation < 4; rotation += 1) await rotate(id, { overlap_hours: 0 });
    const { public_key: old } = await get(id);
    const { public_key: key } = (await rotate(id)).body;
    expect(signersOf(await delivered(), old, key)).toEqual([0, 1]);
    const rows = await service.database.query(
      'SELECT version FROM webhook_endpoint_key WHERE endpoint_id = $1 ORDER BY version',
      [id],
    );
    expect(rows).toEqual([{ version: 4 }, { version: 5 }, { version: 6 }]);
  });

  it('returns the same key for the same idempotency key', async () => {
    const { id } = await created({ signing: 'hmac' });
    const [first, second] = [
      await rotate(id, {}, { 'Idempotency-Key': 'rotate-1' }),
      await rotate(id, {}, { 'Idempotency-Key': 'rotate-1' }),
    ];
    rememberSecret(String(first.body.signing_key));
    expect(second.body).toEqual(first.body);
  });

  it.each([
    [{}, 'The endpoint has no key of its own. Set signing to hmac or ed25519.'],
    [{ signing: 'rsa' }, 'The selected signing is invalid. Allowed values: client, hmac, ed25519.'],
    [{ overlap_hours: 169 }, 'The overlap hours field must not be greater than 168.'],
  ])('rejects %j', async (body, message) => {
    const { id } = await created({});
    expect(await rotate(id, body)).toMatchObject({ status: 400, body: invalidField(message) });
  });

  it('makes one key for 20 concurrent requests', async () => {
    const { id } = await created({ signing: 'ed25519' });
    const responses = await Promise.all(Array.from({ length: 20 }, () => rotate(id)));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 409)).toHaveLength(19);
  });

  it('is audited without the key', async () => {
    const { id } = await created({ signing: 'hmac' });
    rememberSecret(String((await rotate(id)).body.signing_key));
    const [entry] = await auditEntries(service);
    expect(entry).toMatchObject({ event: { action: 'webhook.rotate_key' }, changes: null });
  });
});

describe('A key that cannot be read', () => {
  it('makes deliveries wait, says so in the request log, and signs them when it can be read again', async () => {
    const { id, signing_key: key } = await created({ signing: 'hmac' });
    const [row] = await service.database.query<{ sealed: Buffer }>(
      'SELECT sealed FROM webhook_endpoint_key WHERE endpoint_id = $1',
      [id],
    );
    const sealed = row?.sealed ?? Buffer.alloc(0);
    const setSealed = (value: Buffer): Promise<unknown> =>
      service.database.query('UPDATE webhook_endpoint_key SET sealed = $2 WHERE endpoint_id = $1', [
        id,
        value,
      ]);
    await setSealed(Buffer.concat([sealed.subarray(0, -1), Buffer.from([(sealed.at(-1) ?? 0) ^ 1])]));
    const eventId = await publish();
    // More than the 20 attempts of any other delivery; after these, retries come less and less often.
    await eventually('22 attempts wait', async () => {
      const attempts = await service.database.query<{ reason: string; status_code: number }>(
        'SELECT reason, status_code FROM request_log WHERE webhook_event_id = $1',
        [eventId],
      );
      expect(new Set(attempts.map(({ reason, status_code: status }) => `${reason} ${status}`))).toEqual(
        new Set(attempts.length > 0 ? ['KEY_UNAVAILABLE 0'] : []),
      );
      return attempts.length >= 22;
    });
    expect(receiver.arrivals).toEqual([]);
    await setSealed(sealed);
    const [arrival] = await receiver.arrived(1);
    expect(signersOf(arrival as Arrival, key)).toEqual([0]);
    await queueIsEmpty(service);
  });

  it('is reported by a test', async () => {
    const { id } = await created({ signing: 'ed25519' });
    await service.database.query("UPDATE webhook_endpoint_key SET sealed = 'x' WHERE endpoint_id = $1", [id]);
    const { body } = await service.request(`/webhook-endpoints/${id}/test`, { body: {}, login: owner });
    expect(body).toMatchObject({ received: false, status_code: 0, reason: 'KEY_UNAVAILABLE' });
  });

  it('is that of an endpoint that was deleted while an attempt waited', async () => {
    const { id } = await created({ signing: 'hmac' });
    await service.database.query('DELETE FROM webhook_endpoint');
    await expect(service.app.get(EndpointKeys).of(id, 1, receiver.url)).rejects.toThrow('was deleted');
  });
});

describe('The headers of an endpoint', () => {
  it('are sent with each delivery, and only their names are returned', async () => {
    const { id, ...endpoint } = await created({ headers: { 'X-Api-Key': 'gateway key', 'x-tenant': '7' } });
    expect(endpoint).toMatchObject({ header_names: ['X-Api-Key', 'x-tenant'], signing: 'client' });
    expect(JSON.stringify(await get(id))).not.toContain('gateway key');
    const arrival = await delivered();
    expect(arrival.headers).toMatchObject({ 'x-api-key': 'gateway key', 'x-tenant': '7' });
    expect(signersOf(arrival, service.development.secret)).toEqual([0]);
    const changed = await patch(id, { headers: { 'x-api-key': 'new key', 'X-Tenant': null, 'X-New': 'n' } });
    expect(changed.body.header_names).toEqual(['x-api-key', 'X-New']);
    const { headers } = await delivered();
    expect([headers['x-api-key'], headers['x-tenant'], headers['x-new']]).toEqual([
      'new key',
      undefined,
      'n',
    ]);
    expect((await patch(id, { headers: null })).body.header_names).toEqual([]);
    expect((await delivered()).headers).not.toHaveProperty('x-api-key');
  });

  it('of a new receiver are not sent to the old one by an attempt that began before', async () => {
    const { id } = await created({ headers: { 'X-Api-Key': 'old' } });
    const keys = service.app.get(EndpointKeys);
    await patch(id, { url: 'https://other.example/hooks', headers: { 'X-Api-Key': 'new' } });
    await expect(keys.of(id, 1, receiver.url)).rejects.toThrow('another receiver');
    expect(await keys.of(id, 2, 'https://other.example/hooks')).toMatchObject({
      headers: { 'X-Api-Key': 'new' },
    });
    await patch(id, { url: 'https://other.example/v2', headers: { 'X-Api-Key': 'newer' } });
    expect(await keys.of(id, 1, 'https://other.example/hooks')).toMatchObject({
      headers: { 'X-Api-Key': 'newer' },
    });
  });

  it.each<[headers: object | undefined, names: readonly string[]]>([
    [undefined, []],
    [{}, []],
    [{ 'X-New': 'n', 'x-api-key': null }, ['X-New']],
  ])('are not sent to another receiver: PATCH with the headers %j', async (headers, names) => {
    const { id } = await created({ headers: { 'X-Api-Key': 'gateway key', 'X-Tenant': '7' } });
    const { origin } = new URL(receiver.url);
    const moved = await patch(id, { url: `${origin}/another-path` });
    expect(moved.body.header_names).toEqual(['X-Api-Key', 'X-Tenant']);
    const { body } = await patch(id, { url: 'https://other.example/hooks', headers });
    expect(body.header_names).toEqual(names);
    const [entry] = await auditEntries(service);
    expect(entry?.changes).toContainEqual({
      field: 'headers',
      from: 'X-Api-Key, X-Tenant',
      to: names.join(', '),
    });
    const { url } = (await patch(id, { url: receiver.url })).body;
    expect(url).toContain(origin);
    expect((await delivered()).headers).not.toHaveProperty('x-api-key');
  });

  it('can be 10, each with 1,024 characters', async () => {
    const names = Array.from({ length: 10 }, (_, index) => `X-Header-${index}`);
    const headers = Object.fromEntries(names.map((name) => [name, 'v'.repeat(1_024)]));
    const { id } = await created({ headers });
    expect((await delivered()).headers['x-header-9']).toHaveLength(1_024);
    const tooMany = 'The headers field must not have more than 10 keys.';
    expect(await patch(id, { headers: { 'X-One-More': '1' } })).toMatchObject({
      status: 400,
      body: invalidField(tooMany),
    });
  });

  const VALUE = (name: string): string =>
    `The value of ${name} in the headers field must have 1 to 1024 visible ASCII characters, and no spaces at its ends.`;
  const NAME =
    'The names in the headers field must have at most 100 letters, digits, hyphens, underscores and dots, and begin with a letter.';
  const reserved = (name: string): string =>
    `The headers field must not have the header ${name}, which is reserved.`;
  const REJECTED: (readonly [headers: object, message: string])[] = [
    ...[
      'Host',
      'content-type',
      'Content-Length',
      'Connection',
      'Keep-Alive',
      'Transfer-Encoding',
      'TE',
      'Trailer',
      'Upgrade',
      'Proxy-Authorization',
      'Expect',
      'webhook-signature',
      'Webhook-Id',
      'Service-Signature',
      'Encryption-Type',
      'User-Agent',
    ].map((name) => [{ [name]: 'x' }, reserved(name)] as const),
    [{ 'X-A': 'a\r\nX-B: b' }, VALUE('X-A')],
    [{ 'X-A': 'a\nb' }, VALUE('X-A')],
    [{ 'X-A': 'a\0b' }, VALUE('X-A')],
    [{ 'X-A': 'a\tb' }, VALUE('X-A')],
    [{ 'X-A': 'zoë' }, VALUE('X-A')],
    [{ 'X-A': ' a' }, VALUE('X-A')],
    [{ 'X-A': '' }, VALUE('X-A')],
    [{ 'X-A': 1 }, VALUE('X-A')],
    [{ 'X-A': null }, VALUE('X-A')],
    [{ 'X-A': 'x'.repeat(1_025) }, VALUE('X-A')],
    [{ 'X-A': 'x'.repeat(8_192) }, VALUE('X-A')],
    [{ 'X A': 'x' }, NAME],
    [{ 'X-A\r\nX-B': 'x' }, NAME],
    [{ '': 'x' }, NAME],
    [{ [`X-${'a'.repeat(100)}`]: 'x' }, NAME],
    [{ 'X-A': 'x', 'x-a': 'y' }, 'The headers field has the header x-a more than once.'],
    [['X-A'], 'The headers field must be an object.'],
  ];
  it.each(REJECTED)('reject case %#', async (headers, message) => {
    expect(await create({ headers })).toMatchObject({ status: 400, body: invalidField(message) });
    expect(await create({})).toMatchObject({ status: 200 });
  });

  it('reject __proto__', async () => {
    const headers = JSON.parse('{"__proto__": "x"}') as object;
    expect(await create({ headers })).toMatchObject({ status: 400, body: invalidField(NAME) });
  });
});

describe('A receiver', () => {
  it('can do nothing at the API with all that it holds', async () => {
    const { signing_key: key } = await created({ signing: 'hmac' });
    const { headers } = await delivered();
    const held = [
      key,
      String(key).slice(6),
      ...signaturesOf({ headers } as Arrival),
      headers['service-signature'],
    ];
    for (const credential of held) {
      const as = { ...service.development, secret: String(credential) };
      expect((await service.request('/audit_logs', { as })).status).toBe(401);
      const response = await service.request('/webhook-endpoints?environment=development', {
        token: String(credential),
      });
      expect(response.status).toBe(401);
    }
  });
});

describe('Release 0.3.0 on this schema', () => {
  /** The statement of release 0.3.0. */
  const lockDueLanes = async (): Promise<string[]> => {
    const text = LOCK_DUE_LANES.named.replaceAll(
      "NOT ((paused_at < 'infinity') IS TRUE)",
      'paused_at IS NULL',
    );
    expect(text).not.toEqual(LOCK_DUE_LANES.named);
    const values: Record<string, string> = {
      notified: 'ARRAY(SELECT endpoint_id FROM webhook_lane)',
      fullOrganizations: "'{}'::uuid[]",
      maxWidth: '64',
      maxUnproven: '64',
    };
    const rows = await service.database.query<{ endpointId: string; room: number }>(
      text.replaceAll(/\$([a-zA-Z]+)/g, (_, name: string) => values[name] ?? ''),
    );
    return rows.filter(({ room }) => room > 0).map(({ endpointId }) => endpointId);
  };

  it('leaves deliveries to endpoints with keys or headers of their own to other processes', async () => {
    const plain = await created({});
    await created({ signing: 'hmac' });
    await created({ headers: { 'X-A': 'a' } });
    const changed = await created({});
    await patch(changed.id, { signing: 'ed25519' });
    await delivered();
    expect(await lockDueLanes()).toEqual([plain.id]);
  });

  it('cannot resume such an endpoint', async () => {
    const { id } = await created({ signing: 'ed25519', status: 'paused' });
    const resume = (): Promise<unknown> =>
      service.database.query(
        `UPDATE webhook_lane SET paused_at = NULL, failing_since = NULL WHERE endpoint_id = $1 AND paused_at IS NOT NULL`,
        [id],
      );
    await expect(resume()).rejects.toThrow('webhook_lane_reserved_check');
    expect((await get(id))['status']).toBe('paused');
    expect((await patch(id, { status: 'enabled' })).body['status']).toBe('enabled');
    await expect(resume()).rejects.toThrow('webhook_lane_reserved_check');
    expect((await patch(id, { status: 'paused' })).body['status']).toBe('paused');
  });

  it.each([
    ['another receiver', (url: string) => url.replace('127.0.0.1', 'localhost'), false],
    ['another path', (url: string) => `${url}/moved`, true],
  ])('can give such an endpoint the URL of %s', async (_, moved, isSent) => {
    const { id } = await created({ headers: { 'X-Api-Key': 'gateway key' } });
    expect((await delivered()).headers).toHaveProperty('x-api-key', 'gateway key');
    const url = moved(receiver.url);
    expect(url).not.toBe(receiver.url);
    await service.database.query('UPDATE webhook_endpoint SET url = $2 WHERE id = $1', [id, url]);
    expect('x-api-key' in (await delivered()).headers).toBe(isSent);
    await patch(id, { headers: { 'X-New': 'n' } });
    const { headers } = await delivered();
    expect([headers['x-new'], 'x-api-key' in headers]).toEqual(['n', isSent]);
  });

  it('cannot send a test to such an endpoint', async () => {
    const plain = await created({});
    const { id } = await created({ signing: 'hmac' });
    await delivered();
    const addClaimed = (endpointId: string): Promise<unknown> =>
      service.database.query(
        `INSERT INTO webhook_delivery (endpoint_id, event_id, event_created_at, url, attempts, attempts_allowed,
                                       due_at, claim_id, attempt_started_at, lease_until)
         SELECT $1, id, created_at, 'x', 1, 1, now(), gen_random_uuid(), now(), now() + interval '30 seconds'
           FROM webhook_event LIMIT 1`,
        [endpointId],
      );
    await expect(addClaimed(id)).rejects.toMatchObject({ code: '57014' });
    await addClaimed(plain.id);
    await service.database.query('DELETE FROM webhook_delivery');
  });
});
