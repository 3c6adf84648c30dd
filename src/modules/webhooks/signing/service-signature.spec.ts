import { readFileSync } from 'node:fs';
import { serviceSignature } from './service-signature.js';

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
