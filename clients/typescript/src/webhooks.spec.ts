import { deliveryHeaders } from '../../../src/modules/webhooks/signing/delivery-headers.js';
import { generateKey, signerOf } from '../../../src/modules/webhook-endpoints/signing-key.js';
import { webhooks, type SignatureError } from './index.js';

const SECRET = 'mcs_dev_secret';
const SESSION_ID = 'fb5aa994-ed1c-4c3e-b29a-b2a53222e584';
const BODY = Buffer.from(
  JSON.stringify({ event: 'CARD_UPDATED', session_id: SESSION_ID, data: { card_id: 'é' } }),
);

/** Signs as the service does. */
const signed = (changes: Partial<Parameters<typeof deliveryHeaders>[0]> = {}): Record<string, string> =>
  deliveryHeaders({
    eventId: '0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1',
    event: 'CARD_UPDATED',
    sessionId: SESSION_ID,
    body: BODY,
    now: new Date(),
    secret: SECRET,
    ...changes,
  });

const reasonOf = (verified: Promise<unknown>): Promise<unknown> =>
  verified.then(
    () => 'valid',
    ({ reason }: SignatureError) => reason,
  );

describe('webhooks.verify', () => {
  it('returns the event of a webhook, whatever form its body and headers have', async () => {
    const headers = signed();
    const lowerCase = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const copy = new Uint8Array(BODY).buffer;
    for (const body of [BODY, BODY.toString(), new Uint8Array(BODY), copy]) {
      // The `Headers` of another implementation of `fetch`, and a map.
      const foreign = { get: (name: string) => lowerCase[name] ?? null };
      const map = new Map(Object.entries(lowerCase)) as unknown as Pick<Headers, 'get'>;
      for (const given of [headers, new Headers(headers), lowerCase, foreign, map]) {
        expect(await webhooks.verify(body, given, SECRET)).toMatchObject({ data: { card_id: 'é' } });
      }
    }
  });

  it('accepts an event without a session', async () => {
    const body = Buffer.from('{"event":"MERCHANT_STATUS_UPDATE"}');
    const headers = signed({ event: 'MERCHANT_STATUS_UPDATE', sessionId: null, body });
    expect(await webhooks.verify(body, headers, SECRET)).toMatchObject({ event: 'MERCHANT_STATUS_UPDATE' });
  });

  it('rejects a changed body, another secret, and a changed id or timestamp', async () => {
    const changed = Buffer.from(BODY.toString().replace('é', 'ö'));
    expect(await reasonOf(webhooks.verify(changed, signed(), SECRET))).toBe('signature');
    expect(await reasonOf(webhooks.verify(BODY, signed(), 'another'))).toBe('signature');
    expect(await reasonOf(webhooks.verify(BODY, { ...signed(), 'webhook-id': 'x' }, SECRET))).toBe(
      'signature',
    );
    const later = String(Math.floor(Date.now() / 1000) + 5);
    expect(await reasonOf(webhooks.verify(BODY, { ...signed(), 'webhook-timestamp': later }, SECRET))).toBe(
      'signature',
    );
  });

  it('rejects a wrong Service-Signature', async () => {
    const headers = { ...signed(), 'Service-Signature': signed({ sessionId: null })['Service-Signature'] };
    expect(await reasonOf(webhooks.verify(BODY, headers, SECRET))).toBe('service_signature');
    const garbage = { ...signed(), 'Service-Signature': '%' };
    expect(await reasonOf(webhooks.verify(BODY, garbage, SECRET))).toBe('service_signature');
  });

  it('rejects a timestamp that is more than 5 minutes off, unless the tolerance says otherwise', async () => {
    for (const seconds of [-320, 320]) {
      const headers = signed({ now: new Date(Date.now() + seconds * 1000) });
      expect(await reasonOf(webhooks.verify(BODY, headers, SECRET))).toBe('timestamp');
      expect(await reasonOf(webhooks.verify(BODY, headers, SECRET, { tolerance: Infinity }))).toBe('valid');
    }
    const headers = { ...signed(), 'webhook-timestamp': 'soon' };
    await expect(webhooks.verify(BODY, headers, SECRET)).rejects.toMatchObject({
      reason: 'timestamp',
      message: 'The header webhook-timestamp is not a number of seconds.',
    });
  });

  it.each(['webhook-id', 'webhook-timestamp', 'webhook-signature', 'Service-Signature'])(
    'requires the header %s',
    async (name) => {
      expect(await reasonOf(webhooks.verify(BODY, { ...signed(), [name]: undefined }, SECRET))).toBe(
        'missing_header',
      );
    },
  );

  it('accepts either secret during a rotation, and both at once', async () => {
    const headers = signed({ secret: 'old', otherSecrets: ['new'] });
    for (const secret of ['old', 'new', ['old', 'new']]) {
      expect(await reasonOf(webhooks.verify(BODY, headers, secret))).toBe('valid');
    }
    expect(await reasonOf(webhooks.verify(BODY, headers, 'other'))).toBe('signature');
  });

  it.each([undefined, '', [], [undefined, '']])('requires a secret, not %j', async (secret) => {
    const verified = webhooks.verify(BODY, signed(), secret as string);
    await expect(verified).rejects.toThrow(TypeError);
    await expect(verified).rejects.toThrow('The secret is missing.');
  });

  it('accepts a secret with the line feed of its file', async () => {
    expect(await reasonOf(webhooks.verify(BODY, signed(), `${SECRET}\n`))).toBe('valid');
  });

  it('ignores the second secret of a rotation that has ended', async () => {
    const secrets = [SECRET, undefined] as string[];
    expect(await reasonOf(webhooks.verify(BODY, signed(), secrets))).toBe('valid');
  });

  it('reads the body once per secret, however many signatures there are', async () => {
    const wrong = Array.from(
      { length: 4_000 },
      (_, index) => `v1,${Buffer.alloc(32, index).toString('base64')}`,
    );
    const headers = { ...signed(), 'webhook-signature': wrong.join(' ') };
    const before = process.cpuUsage();
    expect(await reasonOf(webhooks.verify(Buffer.alloc(1_048_576), headers, ['old', 'new']))).toBe(
      'signature',
    );
    // Microseconds of CPU time. Reading it once per signature would take a minute.
    expect(process.cpuUsage(before).user).toBeLessThan(10_000_000);
  });

  it('considers the first 10 signatures and ignores those of another length', async () => {
    const headers = signed();
    const { 'webhook-signature': right = '' } = headers;
    const withOthers = (count: number, other: string): Record<string, string> => ({
      ...headers,
      'webhook-signature': [...Array.from({ length: count }, () => other), right].join(' '),
    });
    for (const other of [
      '',
      'v1,',
      'v1,AAAA',
      `${right}=`,
      `v1a,${'A'.repeat(44)}`,
      `v1,${'A'.repeat(44)}`,
    ]) {
      expect(await reasonOf(webhooks.verify(BODY, withOthers(9, other), SECRET))).toBe('valid');
      expect(await reasonOf(webhooks.verify(BODY, withOthers(10, other), SECRET))).toBe('signature');
    }
  });

  it.each([
    ['the parsed body', JSON.parse(BODY.toString())],
    ['no body', undefined],
    ['null', null],
  ])('tells programs that give %s to give the body before any parsing', async (_what, body) => {
    await expect(webhooks.verify(body as string, signed(), SECRET)).rejects.toMatchObject({
      reason: 'body',
      message: 'The body is not text or bytes. Give the exact body, before any parsing.',
    });
  });

  it('rejects a signed body that is no event', async () => {
    const body = Buffer.from('[]');
    expect(await reasonOf(webhooks.verify(body, signed({ body }), SECRET))).toBe('body');
  });

  describe.each(['hmac', 'ed25519'] as const)('with the %s key of an endpoint', (kind) => {
    const [own, other] = [generateKey(kind), generateKey(kind)];
    const keyOf = ({ publicKey, sealable }: typeof own): string => publicKey ?? sealable;
    const signers = [signerOf(kind, own.sealable)];
    const headers = signed({ signers });

    it('accepts a webhook without the secret of the client', async () => {
      for (const key of [keyOf(own), [keyOf(other), keyOf(own)], [SECRET, keyOf(own)]])
        expect(await webhooks.verify(BODY, headers, key)).toMatchObject({ event: 'CARD_UPDATED' });
      const withoutService = Object.fromEntries(
        Object.entries(headers).filter(([name]) => name !== 'Service-Signature'),
      );
      expect(await reasonOf(webhooks.verify(BODY, withoutService, keyOf(own)))).toBe('valid');
    });

    it('rejects a changed body, another key, and the secret of the client', async () => {
      const changed = Buffer.from(BODY.toString().replace('é', 'ö'));
      expect(await reasonOf(webhooks.verify(changed, headers, keyOf(own)))).toBe('signature');
      for (const key of [keyOf(other), SECRET])
        expect(await reasonOf(webhooks.verify(BODY, headers, key))).toBe('signature');
      expect(await reasonOf(webhooks.verify(BODY, signed(), keyOf(own)))).toBe('signature');
    });

    it('accepts both keys, and the secret of the client, during a rotation', async () => {
      const both = signed({ signers: [...signers, undefined] });
      for (const key of [keyOf(own), SECRET])
        expect(await reasonOf(webhooks.verify(BODY, both, key))).toBe('valid');
    });

    it('reports a malformed key', async () => {
      const malformed = keyOf(own).replace(/_.*/, '_%');
      await expect(webhooks.verify(BODY, headers, malformed)).rejects.toThrow(TypeError);
    });
  });

  it('does not take a public key for a secret', async () => {
    const { publicKey } = generateKey('ed25519');
    const encoded = String(publicKey).replace('whpk_', 'whsec_');
    const forged = signed({ signers: [signerOf('hmac', encoded)] });
    expect(await reasonOf(webhooks.verify(BODY, forged, String(publicKey)))).toBe('signature');
  });
});

describe('webhooks.sign', () => {
  const id = '0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1';
  const timestamp = new Date();

  it('returns the headers that the service sends', async () => {
    const { 'User-Agent': _agent, ...expected } = signed({ now: timestamp });
    for (const body of [BODY, BODY.toString()])
      expect(await webhooks.sign(body, SECRET, { id, timestamp })).toEqual(expected);
    const { 'User-Agent': _other, ...rotated } = signed({ now: timestamp, otherSecrets: ['new'] });
    expect(await webhooks.sign(BODY, [SECRET, 'new'], { id, timestamp })).toEqual(rotated);
  });

  it.each(['hmac', 'ed25519'] as const)('signs with the %s key of an endpoint', async (kind) => {
    const { sealable, publicKey } = generateKey(kind);
    const headers = await webhooks.sign(BODY, sealable, { id, timestamp });
    const expected = signed({ now: timestamp, signers: [signerOf(kind, sealable)] });
    expect(headers['webhook-signature']).toBe(expected['webhook-signature']);
    expect(await reasonOf(webhooks.verify(BODY, headers, publicKey ?? sealable))).toBe('valid');
    expect(await reasonOf(webhooks.verify(BODY, headers, SECRET))).toBe('signature');
  });

  it('signs now, with a new ID, so that the webhook is valid', async () => {
    const first = await webhooks.sign(BODY, SECRET);
    expect(await webhooks.verify(BODY, first, SECRET)).toMatchObject({ event: 'CARD_UPDATED' });
    expect((await webhooks.sign(BODY, SECRET))['webhook-id']).not.toBe(first['webhook-id']);
    expect(await reasonOf(webhooks.verify(BODY, first, 'other'))).toBe('signature');
    expect(await reasonOf(webhooks.sign('[]', SECRET))).toBe('body');
  });
});
