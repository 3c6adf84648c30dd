import { createHash } from 'node:crypto';
import { rememberSecret } from '../support/run-directory.js';
import { error, invalidField, startTestApp, type TestApp } from '../support/test-app.js';

const PATH = '/mcp/tokens/create';

describe('POST /mcp/tokens/create', () => {
  let service: TestApp;

  beforeAll(async () => {
    service = await startTestApp();
  });
  afterAll(() => service.close());

  const create = (body: unknown, as = service.development) =>
    service.request<{ token: string; expires_at: string }>(PATH, { body, as });

  it('returns a token that is valid for a day, and stores only its hash', async () => {
    const before = Date.now();
    const { status, headers, body } = await create({ external_user_id: 'user-1' });
    rememberSecret(body.token);

    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(Object.keys(body)).toEqual(['token', 'expires_at']);
    expect(body.token).toMatch(/^mcp_dev_[0-9A-Za-z]{49}$/);
    expect(body.expires_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const lifetime = Date.parse(body.expires_at) - before;
    expect(lifetime).toBeGreaterThanOrEqual(86_400_000);
    expect(lifetime).toBeLessThan(86_405_000);

    const hash = createHash('sha256').update(body.token).digest();
    const rows = await service.database.query('SELECT * FROM mcp_token WHERE token_hash = $1', [hash]);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      client_id: service.development.clientId,
      environment: 'development',
      external_user_id: 'user-1',
      phone_number_sealed: null,
      expires_at: new Date(body.expires_at),
    });
    expect(JSON.stringify(rows)).not.toContain(body.token);
  });

  it('puts the environment into the prefix of the token', async () => {
    const { body } = await create({ external_user_id: 'user-1' }, service.production);
    rememberSecret(body.token);
    expect(body.token).toMatch(/^mcp_live_/);
  });

  it('encrypts the phone number', async () => {
    const { status, body } = await create({ external_user_id: 'sealed', phone_number: '+12125550123' });
    rememberSecret(body.token, '+12125550123');
    expect(status).toBe(200);
    const [row] = await service.database.query<{ phone_number_sealed: Buffer }>(
      `SELECT phone_number_sealed FROM mcp_token WHERE external_user_id = 'sealed'`,
    );
    expect(row?.phone_number_sealed.toString('latin1')).not.toContain('2125550123');
  });

  it.each([
    [{ external_user_id: 'u', expires_in: 60 }],
    [{ external_user_id: 'u', expires_in: 2_592_000 }],
    [{ external_user_id: 'u', expires_in: 3600.0 }],
    [{ external_user_id: 'u', expires_in: null, phone_number: null }],
    [{ external_user_id: 'u', phone_number: '' }],
    [{ external_user_id: '😀'.repeat(256) }],
    [{ external_user_id: 'u', phone_number: '+16045550123' }],
    [{ external_user_id: 'u', unknown_member: { deep: [1, 2] } }],
  ])('accepts %j', async (body) => {
    expect((await create(body)).status).toBe(200);
  });

  it.each([
    ['The external user id field is required.', {}],
    ['The external user id field is required.', { external_user_id: null }],
    ['The external user id field is required.', { external_user_id: '  ' }],
    ['The external user id field must be a string.', { external_user_id: 7 }],
    ['The external user id field must be a string.', { external_user_id: ['a'] }],
    [
      'The external user id field must not be greater than 256 characters.',
      { external_user_id: 'x'.repeat(257) },
    ],
    [
      'The external user id field must not be greater than 256 characters.',
      { external_user_id: '😀'.repeat(257) },
    ],
    [
      'The external user id field must not contain null characters or unpaired surrogates.',
      { external_user_id: 'a\0b' },
    ],
    [
      'The expires in field must not be greater than 2592000.',
      { external_user_id: 'u', expires_in: 2_592_001 },
    ],
    ['The expires in field must be at least 60.', { external_user_id: 'u', expires_in: 59 }],
    ['The expires in field must be an integer.', { external_user_id: 'u', expires_in: '3600' }],
    ['The expires in field must be an integer.', { external_user_id: 'u', expires_in: 60.5 }],
    ['The expires in field must be an integer.', { external_user_id: 'u', expires_in: true }],
    [
      'The expires in field must be an integer.',
      { external_user_id: 'u', expires_in: [], phone_number: 'x' },
    ],
    [
      'The field expiresIn is not known. Did you mean expires_in?',
      { external_user_id: 'u', expiresIn: 3600 },
    ],
    ['The phone number format is invalid.', { external_user_id: 'u', phone_number: '2125550123' }],
    ['The phone number format is invalid.', { external_user_id: 'u', phone_number: 12125550123 }],
    ['The phone number format is invalid.', { external_user_id: 'u', phone_number: '+1 212 555 0123' }],
    [
      'The phone number must be a valid number in a supported country.',
      { external_user_id: 'u', phone_number: '+442071838750' },
    ],
    // Jamaica and the Bahamas share the country code with the US.
    [
      'The phone number must be a valid number in a supported country.',
      { external_user_id: 'u', phone_number: '+18765550123' },
    ],
    [
      'The phone number must be a valid number in a supported country.',
      { external_user_id: 'u', phone_number: '+12420000000' },
    ],
    [
      'The phone number must be a valid number in a supported country.',
      { external_user_id: 'u', phone_number: '+10005550123' },
    ],
    // Only the first problem is reported, in the order of the fields.
    [
      'The external user id field must be a string.',
      { external_user_id: 5, expires_in: 'x', phone_number: 'y' },
    ],
    [
      'The expires in field must be at least 60.',
      { external_user_id: 'u', expires_in: 1, phone_number: 'y' },
    ],
  ])('rejects a body: %s', async (message, body) => {
    const [{ count: before } = { count: '' }] = await service.database.query<{ count: string }>(
      'SELECT count(*) FROM mcp_token',
    );
    const response = await create(body);
    expect(response.status).toBe(400);
    expect(response.body).toEqual(invalidField(message));
    expect(await service.database.query('SELECT count(*) FROM mcp_token')).toEqual([{ count: before }]);
  });

  it('rejects an unpaired surrogate, which JSON can contain', async () => {
    const { status, body } = await create('{"external_user_id":"\\ud83d"}');
    expect(status).toBe(400);
    expect(body).toEqual(
      invalidField('The external user id field must not contain null characters or unpaired surrogates.'),
    );
  });

  it.each([
    ['The request body is not valid JSON.', 'not json'],
    ['The request body is not valid JSON.', '{"external_user_id":'],
    ['The request body is not valid JSON.', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d])],
    ['The request body must be a JSON object.', '[]'],
    ['The request body must be a JSON object.', 'null'],
    ['The request body must be a JSON object.', '"text"'],
    ['The external user id field is required.', ''],
    [
      'The request body must not be nested deeper than 32 levels.',
      `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`,
    ],
  ])('rejects malformed bodies: %s', async (message, body) => {
    const response = await create(body);
    expect(response.status).toBe(400);
    expect(response.body).toEqual(invalidField(message));
  });

  it('rejects a body that is too large or of another type', async () => {
    const large = await create({ external_user_id: 'x'.repeat(530_000) });
    expect([large.status, large.body]).toEqual([
      413,
      error('INVALID_REQUEST', 'PAYLOAD_TOO_LARGE', 'The request body must not be larger than 524288 bytes.'),
    ]);
    const form = await service.request(PATH, {
      body: 'external_user_id=u',
      as: service.development,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect([form.status, form.body['error_code']]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
  });

  it('returns the request ID of the client, or generates one', async () => {
    const own = await service.request(PATH, { body: {}, headers: { 'x-request-id': 'my-id_1' } });
    expect(own.headers.get('x-request-id')).toBe('my-id_1');
    const bad = await service.request(PATH, { body: {}, headers: { 'x-request-id': 'not ok' } });
    expect(bad.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});
