import { usedPart } from './provider-documents.js';

const objects = Array.from({ length: 80_000 }, () => ({}));

describe('usedPart', () => {
  it.each([
    ['unknown members', { issuer: 'https://a.example', x: objects }, { issuer: 'https://a.example' }],
    ['objects in known members', { jwks_uri: objects, issuer: {} }, { jwks_uri: [], issuer: null }],
    [
      'a long list',
      { scopes_supported: ['openid', {}, ...Array<string>(10_000).fill('x')] },
      { scopes_supported: ['openid', ...Array<string>(198).fill('x')] },
    ],
    [
      'keys with certificates',
      { keys: [{ kty: 'RSA', n: 'AQAB', e: 'AQAB', x5c: ['MII'], key_ops: ['verify'] }] },
      { keys: [{ kty: 'RSA', n: 'AQAB', e: 'AQAB', key_ops: ['verify'] }] },
    ],
    ['keys that are none', { keys: [null, 1, 'text'] }, { keys: [{}, {}, {}] }],
    ['many keys', { keys: objects }, { keys: objects.slice(0, 200) }],
  ])('drops the rest of a document with %s', (_name, document, used) => {
    expect(JSON.parse(usedPart(JSON.stringify(document)))).toEqual(used);
  });

  it.each(['not JSON', '[{}]', 'null', '"text"'])('keeps a text that is no object: %s', (text) => {
    expect(usedPart(text)).toBe(text);
  });
});
