import fc from 'fast-check';
import { generateSecret } from '../crypto/index.js';
import { maskedText } from './redaction.js';
import { cpuTimeOf } from '../../../test/support/programs/cpu-time.js';

describe('maskedText', () => {
  it.each([
    ['{"token":"abc","code":401}', '{"token":"[REDACTED]","code":401}'],
    [
      String.raw`{"client_secret": "a\"b,c", "message": "no"}`,
      '{"client_secret": "[REDACTED]", "message": "no"}',
    ],
    [`{'apiKey': 'abc', 'a': 1}`, `{'apiKey': '[REDACTED]', 'a': 1}`],
    ['password=hunter2&user=ada', 'password=[REDACTED]&user=ada'],
    ['DB_PASSWORD: hunter2\nDB_HOST: db', 'DB_PASSWORD: [REDACTED]\nDB_HOST: db'],
    ['"X-Api-Key" => "abc"', '"X-Api-Key" => "[REDACTED]"'],
    ['Service-Signature: dGhlIHNpZ25hdHVyZQ==', 'Service-Signature: [REDACTED]'],
    ['Host: a\nCookie: a=b; c=d\nAccept: *', 'Host: a\nCookie: [REDACTED]\nAccept: *'],
    ['Proxy-Authorization: Digest a="b", c', 'Proxy-Authorization: [REDACTED]'],
    ['Authorization: Basic YWJjOmRlZmdoaQ==', 'Authorization: [REDACTED]'],
    ['Digest username="x", Bearer abcdefgh12345', 'Digest username="x", [REDACTED]'],
    ['{"access_token": 12345}', '{"access_token": [REDACTED]}'],
    ['{"token":"cut in the mid', '{"token":"[REDACTED]"'],
    ['postgres://user:pass@db/x', 'postgres://[REDACTED]@db/x'],
  ])('masks the secret in %s', (text, masked) => expect(maskedText(text)).toBe(masked));

  it.each([
    '{"error":"invalid_request","error_code":"X-17","request_id":"2f1c7a52-43c8-4c0e-9a53-0f2d4f0f6a11"}',
    '{"token_valid":false,"signature":null}',
    '<html><body><h1>502 Bad Gateway</h1></body></html>',
    'The token has expired',
    'SyntaxError: Unexpected token < in JSON at position 0',
    '',
  ])('keeps %s', (text) => expect(maskedText(text)).toBe(text));

  it('masks secrets of the service anywhere', () => {
    const secret = generateSecret('mcs_live_');
    expect(maskedText(`<td>${secret}</td>`)).toBe('<td>[REDACTED]</td>');
  });

  it('is idempotent, and keeps JSON valid', () => {
    const name = fc.constantFrom('token', 'my_secret', 'a', 'message', 'cookie', 'Authorization');
    const value = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.integer(), fc.constant(null));
    fc.assert(
      fc.property(fc.dictionary(name, value), fc.string(), (object, text) => {
        const json = JSON.stringify(object);
        const masked = maskedText(json);
        expect(Object.keys(JSON.parse(masked.replaceAll(':[REDACTED]', ':"[REDACTED]"')) as object)).toEqual(
          Object.keys(object),
        );
        for (const each of [json, text, `token=${text}`, `Cookie: ${text}`])
          expect(maskedText(maskedText(each))).toBe(maskedText(each));
      }),
    );
  });

  it.each(
    [
      'token',
      'token=',
      'a-',
      'token-',
      '"',
      "token='",
      'token: ',
      ' ',
      '\\',
      'cookie:',
      'a:',
      'eyJ.',
      '\t',
    ].map((part) => [part, part.repeat(100_000 / part.length)]),
  )('takes linear time for a long text of %j', (_part, text) => {
    expect(cpuTimeOf(() => maskedText(text))).toBeLessThan(5_000);
  });
});
