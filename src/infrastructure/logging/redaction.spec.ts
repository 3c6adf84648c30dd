import fc from 'fast-check';
import { generateSecret } from '../crypto/index.js';
import { maskedText, redactText } from './redaction.js';
import { cpuTimeOf } from '../../../test/support/programs/cpu-time.js';

const MASK = '[REDACTED]';
const PREFIXES = ['mcs_dev_', 'mcs_live_', 'mcp_dev_', 'mcp_live_', 'mcs_svc_'];

const alphanumeric = (length: number): fc.Arbitrary<string> =>
  fc.stringMatching(new RegExp(`^[0-9A-Za-z]{${length}}$`));
const jwtPart = fc
  .dictionary(fc.constantFrom('sub', 'iss', 'alg'), fc.string(), { minKeys: 1 })
  .map((claims) => Buffer.from(JSON.stringify(claims)).toString('base64url'));

/** A secret that must be masked, and a text that contains it. */
const secrets: Readonly<Record<string, fc.Arbitrary<readonly [secret: string, text: string]>>> = {
  'API secrets and MCP tokens': fc
    .constantFrom(...PREFIXES)
    .map((prefix) => generateSecret(prefix))
    .map((secret) => [secret, secret]),
  'keys of webhook endpoints': fc
    .tuple(fc.constantFrom('whsec_', 'whsk_'), fc.uint8Array({ minLength: 32, maxLength: 32 }))
    .map(([prefix, key]) => prefix + Buffer.from(key).toString('base64'))
    .map((key) => [key, key]),
  'JSON Web Tokens': fc
    .tuple(jwtPart, jwtPart, alphanumeric(43))
    .map((parts) => parts.join('.'))
    .map((token) => [token, token]),
  'Basic credentials': fc
    .tuple(alphanumeric(12), alphanumeric(20))
    .map(([id, secret]) => Buffer.from(`${id}:${secret}`).toString('base64'))
    .chain((encoded) =>
      fc.constantFrom('Basic ', 'basic ', 'BASIC  ').map((scheme) => [encoded, scheme + encoded]),
    ),
  'Bearer tokens': fc
    .stringMatching(/^[\w+/.~-]{8,60}={0,2}$/)
    .chain((token) => fc.constantFrom('Bearer ', 'bearer ').map((scheme) => [token, scheme + token])),
  'passwords of database addresses': fc
    .tuple(fc.constantFrom('postgres', 'postgresql', 'redis'), alphanumeric(6), alphanumeric(16))
    .map(([scheme, user, password]) => [password, `${scheme}://${user}:${password}@db.internal:5432/name`]),
};
const surroundings = fc.constantFrom<readonly [string, string]>(
  ['', ''],
  ['{"message":"', '"}'],
  ['Error: refused (', ')\n    at file.js:1:1'],
  ['a=1&b=', '&c=3'],
  ["'", "'"],
  ['-> ', ' <-'],
);

describe('redactText', () => {
  describe.each(Object.entries(secrets))('%s', (_, secret) => {
    it('is masked at any position', () => {
      fc.assert(
        fc.property(secret, surroundings, ([value, text], [before, after]) => {
          const redacted = redactText(before + text + after);
          expect(redacted).not.toContain(value);
          expect(redacted).toContain(MASK);
          expect(redacted.startsWith(before)).toBe(true);
        }),
      );
    });

    it('is masked next to other text', () => {
      fc.assert(
        fc.property(fc.array(secret, { minLength: 2, maxLength: 4 }), (several) => {
          const redacted = redactText(several.map(([, text]) => text).join(' and '));
          for (const [value] of several) expect(redacted).not.toContain(value);
        }),
      );
    });
  });

  it('is idempotent', () => {
    const parts = fc.oneof(
      fc.string(),
      ...Object.values(secrets).map((each) => each.map(([, text]) => text)),
    );
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 6 }), (texts) => {
        const once = redactText(texts.join(' '));
        expect(redactText(once)).toBe(once);
      }),
    );
  });

  it.each([
    'Listening on http://127.0.0.1:3000. Documentation: http://127.0.0.1:3000/docs',
    '{"level":"log","request_id":"2f1c7a52-43c8-4c0e-9a53-0f2d4f0f6a11","route":"/mcp/tokens/create","status":401}',
    'postgres://db.internal:5432/name is unreachable (ECONNREFUSED)',
    'mcs_dev_ is the prefix of secrets',
    'https://host/users/ada@example.com?to=bob@example.com#c@d',
    'https://host?to=bob@example.com',
    'https://host#ada@example.com',
    'https://host ada@example.com',
    '{"docs":"https://host","to":["ada@example.com","bob@example.com"]}',
    'Basic auth is what the platform API takes',
  ])('does not mask %s', (text) => expect(redactText(text)).toBe(text));

  it.each([
    ['redis://:hunter2hunter2@cache:6379', 'redis://[REDACTED]@cache:6379'],
    ['postgres://u:p@ss@db/x', 'postgres://[REDACTED]@db/x'],
    ['postgres://u:p@s?s#w@db/x', 'postgres://[REDACTED]@db/x'],
    ['https://TOKEN@host/a@b', 'https://[REDACTED]@host/a@b'],
    ['https://ada@example.com:TOKEN@host?to=a@b', 'https://[REDACTED]@host?to=a@b'],
    ['prefix-eyJhbGciOiJI.eyJzdWIiOiIx.sig rest', 'prefix-[REDACTED] rest'],
    ['a.eyJhbGciOiJI.eyJzdWIiOiIx.sig', 'a.[REDACTED]'],
    ['eyJhbGciOiJI.eyJzdWIiOiIx.', '[REDACTED]'],
  ])('masks the secret in %s', (text, redacted) => expect(redactText(text)).toBe(redacted));

  it.each(
    [
      'eyJ-',
      'eyJa.',
      'eyJa.eyJ',
      'a.',
      'a:',
      'a://b:',
      'a://b:c',
      'a://b@',
      'a@',
      ':@',
      'a+-.',
      'Basic ',
      'Basic a',
      ' ',
      'mcs_live_',
      'x',
    ].map((part) => [part, `a://${part.repeat(400_000 / part.length)}`]),
  )('takes linear time for a long text of %j', (_part, text) => {
    expect(cpuTimeOf(() => redactText(text))).toBeLessThan(5_000);
  });

  it('keeps JSON lines valid', () => {
    const line = JSON.stringify({ message: `refused ${generateSecret('mcs_dev_')}`, status: 401 });
    expect(JSON.parse(redactText(line))).toEqual({ message: `refused ${MASK}`, status: 401 });
  });
});

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
