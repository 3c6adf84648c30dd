import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
import { VERSION } from '../../../infrastructure/project-files/index.js';
import { deliveryHeaders, serviceSignature, type DeliveryToSign } from './delivery-headers.js';

const BODY = Buffer.from('{"event":"AUTHENTICATED","session_id":"s-1","external_user_id":"zoë-😀"}');
const DELIVERY: DeliveryToSign = {
  eventId: '0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1',
  event: 'AUTHENTICATED',
  sessionId: 's-1',
  body: BODY,
  now: new Date('2024-03-19T16:15:23.999Z'),
  secret: 'mcs_dev_3f9Qk2LrYv7TnXb1Wc8ZpHs5JdMg0RaEu4oViKtBx6N0a1b2c',
};

describe('deliveryHeaders', () => {
  it('returns the headers of the specification', () => {
    expect(deliveryHeaders(DELIVERY)).toEqual({
      'Content-Type': 'application/json',
      'Content-Length': String(BODY.length),
      'Encryption-Type': 'HMAC-SHA256',
      'Service-Signature': expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/),
      'User-Agent': `MerchantConnectivityService-Webhooks/${VERSION}`,
      'webhook-id': DELIVERY.eventId,
      'webhook-timestamp': '1710864923',
      'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    });
  });

  it('counts bytes, not characters', () => {
    expect(BODY.length).toBeGreaterThan(BODY.toString().length);
  });

  it('changes only the time and its signature in a retry', () => {
    const first = deliveryHeaders(DELIVERY);
    const retry = deliveryHeaders({ ...DELIVERY, now: new Date('2024-03-19T16:18:23.000Z') });
    const changed = Object.keys(first).filter((name) => first[name] !== retry[name]);
    expect(changed).toEqual(['webhook-timestamp', 'webhook-signature']);
  });

  it('returns headers that the Standard Webhooks library accepts', () => {
    const headers = deliveryHeaders({ ...DELIVERY, now: new Date() });
    const receiver = new Webhook(Buffer.from(DELIVERY.secret), { format: 'raw' });
    expect(receiver.verify(BODY, headers)).toMatchObject({ event: 'AUTHENTICATED' });
  });

  it('has a signature by each valid secret, and Service-Signature by the active one', () => {
    const old = deliveryHeaders(DELIVERY);
    const both = deliveryHeaders({ ...DELIVERY, secret: 'new', otherSecrets: [DELIVERY.secret] });
    const only = deliveryHeaders({ ...DELIVERY, secret: 'new' });
    expect(both['webhook-signature']).toBe(`${only['webhook-signature']} ${old['webhook-signature']}`);
    expect(both['Service-Signature']).toBe(only['Service-Signature']);
  });

  it('signs no session if there is none', () => {
    const { sessionId: _, ...withoutSession } = DELIVERY;
    const [signed, unsigned] = [deliveryHeaders(DELIVERY), deliveryHeaders(withoutSession)];
    expect(unsigned['Service-Signature']).not.toBe(signed['Service-Signature']);
    expect(unsigned['webhook-signature']).toBe(signed['webhook-signature']);
  });
});

interface Vector {
  readonly name: string;
  readonly secret: string;
  readonly body: string;
  readonly signature: string;
}

const VECTORS = new URL('../../../../examples/receivers/service-signature.json', import.meta.url);
const { vectors } = JSON.parse(readFileSync(VECTORS, 'utf8')) as { vectors: readonly Vector[] };

const PARTS = { event: 'CARD_UPDATED', sessionId: 'a', contentLength: 2 };

describe('Service-Signature', () => {
  it.each(vectors.map((vector) => [vector.name, vector] as const))('%s', (_name, vector) => {
    const { event, session_id: sessionId } = JSON.parse(vector.body) as {
      event: string;
      session_id?: string;
    };
    const contentLength = Buffer.byteLength(vector.body);
    expect(serviceSignature({ event, ...(sessionId && { sessionId }), contentLength }, vector.secret)).toBe(
      vector.signature,
    );
  });

  it('is tested with and without a session', () => {
    const withSession = vectors.filter(({ body }) => body.includes('session_id'));
    expect([vectors.length - withSession.length, withSession.length].every((count) => count > 0)).toBe(true);
  });

  it.each([
    ['event', { ...PARTS, event: 'CARD_FAILED' }, 'secret'],
    ['session', { ...PARTS, sessionId: 'b' }, 'secret'],
    ['length', { ...PARTS, contentLength: 3 }, 'secret'],
    ['secret', PARTS, 'another secret'],
  ])('differs with the %s', (_part, parts, secret) => {
    expect(serviceSignature(parts, secret)).not.toBe(serviceSignature(PARTS, 'secret'));
  });
});
