import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { standardSignature } from './standard-signature.js';

const ID = '0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1';
const AT = 1_710_864_923;
const SECRET = 'mcs_dev_3f9Qk2LrYv7TnXb1Wc8ZpHs5JdMg0RaEu4oViKtBx6N0a1b2c';
const BODY = Buffer.from('{"event":"CARD_UPDATED","external_user_id":"zoë-😀"}');

const receiver = new Webhook(Buffer.from(SECRET), { format: 'raw' });

describe('standardSignature', () => {
  it('equals the signature of the Standard Webhooks library', () => {
    expect(standardSignature({ id: ID, timestampSeconds: AT, body: BODY }, SECRET)).toBe(
      receiver.sign(ID, new Date(AT * 1000), BODY),
    );
  });

  it('equals it for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.uuid(), fc.nat(), (text, id, timestampSeconds) => {
        const body = Buffer.from(JSON.stringify({ text }));
        expect(standardSignature({ id, timestampSeconds, body }, SECRET)).toBe(
          receiver.sign(id, new Date(timestampSeconds * 1000), body),
        );
      }),
    );
  });

  it('can be verified with the secret in base64', () => {
    const timestampSeconds = Math.floor(Date.now() / 1000);
    const headers = {
      'webhook-id': ID,
      'webhook-timestamp': String(timestampSeconds),
      'webhook-signature': standardSignature({ id: ID, timestampSeconds, body: BODY }, SECRET),
    };
    const withBase64 = new Webhook(`whsec_${Buffer.from(SECRET).toString('base64')}`);
    expect(withBase64.verify(BODY, headers)).toEqual(JSON.parse(BODY.toString()));
    const altered = Buffer.from(BODY.toString().replace('UPDATED', 'DELETED'));
    expect(altered).toHaveLength(BODY.length);
    expect(() => withBase64.verify(altered, headers)).toThrow('No matching signature found');
  });
});
