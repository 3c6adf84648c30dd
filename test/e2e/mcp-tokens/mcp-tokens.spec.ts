import { createHash } from 'node:crypto';
import pg from 'pg';
import { DAY } from '../../../src/infrastructure/time/index.js';
import { dayOfSecret, generateSecret } from '../../../src/infrastructure/crypto/index.js';
import { McpTokensBatch } from '../../../src/modules/mcp-tokens/mcp-tokens.batch.js';
import { PartitionRotation } from '../../../src/infrastructure/database/index.js';
import { McpTokensService, McpTokenVerifier } from '../../../src/modules/mcp-tokens/index.js';
import { mcpToken } from '../../support/agents/agents.js';
import { stopClock } from '../../support/clock.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { invalidField, useTestApp } from '../../support/test-app.js';

const PATH = '/mcp/tokens/create';
const NOT_E164 = 'The phone number format is invalid. Use the format +12125550123.';
const NOT_SUPPORTED = 'The phone number must be a valid number in a supported country. Supported: US, CA.';
const TOO_LONG = 'The external user id field must not be greater than 256 characters.';
const NOT_STORABLE = 'The external user id field must not contain null characters or unpaired surrogates.';

describe('POST /mcp/tokens/create', () => {
  const service = useTestApp();

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
    const created = Date.parse(body.expires_at) - 86_400_000;
    expect(created).toBeGreaterThanOrEqual(before);
    expect(created).toBeLessThanOrEqual(Date.now());

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
    [TOO_LONG, { external_user_id: 'x'.repeat(257) }],
    [TOO_LONG, { external_user_id: '😀'.repeat(257) }],
    [NOT_STORABLE, { external_user_id: 'a\0b' }],
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
    [NOT_E164, { external_user_id: 'u', phone_number: '2125550123' }],
    [NOT_E164, { external_user_id: 'u', phone_number: 12125550123 }],
    [NOT_E164, { external_user_id: 'u', phone_number: '+1 212 555 0123' }],
    [NOT_SUPPORTED, { external_user_id: 'u', phone_number: '+442071838750' }],
    // Jamaica and the Bahamas share the country code with the US.
    [NOT_SUPPORTED, { external_user_id: 'u', phone_number: '+18765550123' }],
    [NOT_SUPPORTED, { external_user_id: 'u', phone_number: '+12420000000' }],
    [NOT_SUPPORTED, { external_user_id: 'u', phone_number: '+10005550123' }],
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
    expect(body).toEqual(invalidField(NOT_STORABLE));
  });

  it.each([
    [
      'The external user id field is required. The field externalUserId is not known. Did you mean external_user_id?',
      { externalUserId: 'u' },
    ],
    ['The external user id field is required.', { other: 'u', expiresIn: 60 }],
    [
      'The request body is not valid JSON. Remove the comma before the closing bracket: line 2, column 28.',
      '{\n  "external_user_id": "u,}", \n}',
    ],
    [
      'The request body is not valid JSON. Remove the comma before the closing bracket: line 1, column 8.',
      '{"a":[1,]}',
    ],
    ['The request body is not valid JSON.', '{"a":"\\",}'],
    // Nobody is shown where in a body that no person wrote.
    ['The request body is not valid JSON.', `{"a":1${' '.repeat(70_000)},}`],
    ['The request body is not valid JSON.', 'not json'],
    ['The request body is not valid JSON.', '{"external_user_id":'],
    [
      'The request body is not valid JSON. It is not encoded in UTF-8.',
      new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]),
    ],
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
});

describe('MCP tokens', () => {
  const startOfDay = (time: Date): Date => new Date(Math.floor(time.getTime() / DAY) * DAY);
  const partitionOf = (time: Date): string =>
    `mcp_token_${time.toISOString().slice(0, 10).replaceAll('-', '')}`;
  const service = useTestApp();
  let tokens: McpTokensService;
  let verifier: McpTokenVerifier;
  let clientId: string;

  beforeAll(async () => {
    tokens = service.app.get(McpTokensService);
    verifier = service.app.get(McpTokenVerifier);
    ({ clientId } = service.development);
  });

  const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();
  const tableOf = async (token: string): Promise<string | undefined> => {
    const [row] = await service.database.query<{ name: string }>(
      'SELECT tableoid::regclass::text AS name FROM mcp_token WHERE token_hash = $1',
      [hashOf(token)],
    );
    return row?.name;
  };

  it('contain the day of their creation', async () => {
    const token = await mcpToken(service, 'user-1');
    expect(dayOfSecret(token)).toEqual(startOfDay(new Date()));
    expect(await tableOf(token)).toBe(partitionOf(new Date()));
    expect(await tokens.introspect(clientId, token)).toMatchObject({ externalUserId: 'user-1' });
  });

  it('are looked up with one plan for all days, which uses the index and skips the partitions of other days', async () => {
    const [definition] = await service.database.query<{ body: string; settings: string[] }>(
      `SELECT prosrc AS body, proconfig AS settings FROM pg_proc WHERE proname = 'find_usable_mcp_tokens'`,
    );
    const client = new pg.Client({ connectionString: service.database.url });
    await client.connect();
    try {
      // The planner must not rely on the partition being empty at first.
      await client.query('ANALYZE mcp_token');
      for (const setting of definition?.settings ?? []) await client.query(`SET ${setting}`);
      const query = /RETURN QUERY ([^;]+);/.exec(definition?.body ?? '')?.[1] ?? '';
      const parameters = query
        .replace('hashes', '$1::bytea[]')
        .replace('created_from', '$2::timestamptz')
        .replace('created_before', '$3::timestamptz');
      await client.query(`PREPARE find AS ${parameters}`);
      const day = startOfDay(new Date());
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN (COSTS OFF) EXECUTE find ('{"\\\\x00"}', '${day.toISOString()}', '${new Date(day.getTime() + DAY).toISOString()}')`,
      );
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan).toMatch(/Subplans Removed: \d+/);
      expect(plan.match(/Scan.* (?:on|using) mcp_token\w+/g)).toHaveLength(1);
      expect(plan).toContain(`${partitionOf(day)}_pkey`);
      // A plan with the values of the parameters would be made for each statement.
      expect(plan).toContain('token_hash = hash.value');
    } finally {
      await client.end();
    }
  });

  it('contain the day of their partition if they are created a moment before midnight', async () => {
    const midnight = startOfDay(new Date(Date.now() + DAY));
    const createdAt = async (time: Date, user: string): Promise<string> => {
      using _clock = stopClock(service, time);
      return await mcpToken(service, user);
    };
    const last = await createdAt(new Date(midnight.getTime() - 1), 'user-2');
    const first = await createdAt(midnight, 'user-3');
    {
      using _clock = stopClock(service, midnight);
      expect(await tokens.introspect(clientId, last)).toMatchObject({ externalUserId: 'user-2' });
      expect(await tokens.introspect(clientId, first)).toMatchObject({ externalUserId: 'user-3' });
    }
    expect([dayOfSecret(last), dayOfSecret(first)]).toEqual([new Date(midnight.getTime() - DAY), midnight]);
    expect([await tableOf(last), await tableOf(first)]).toEqual([
      partitionOf(new Date(midnight.getTime() - DAY)),
      partitionOf(midnight),
    ]);
    // A process whose clock is behind does not refuse a token from the next day.
    expect(await tokens.introspect(clientId, first)).toMatchObject({ externalUserId: 'user-3' });
  });

  it('can be looked up in one batch if they were created on different days', async () => {
    const days = [4, 0, 1, 2, 0];
    const created: string[] = [];
    for (const [index, offset] of days.entries()) {
      using _clock = stopClock(service, new Date(Date.now() + offset * DAY));
      created.push(await mcpToken(service, `day-${index}`));
    }
    const batch = service.app.get(McpTokensBatch);
    const unknown = generateSecret('mcp_dev_');
    using _clock = stopClock(service, new Date(Date.now() + Math.max(...days) * DAY));
    const found = await Promise.all([...created, unknown].map((token) => batch.find(token, hashOf(token))));
    expect(found.map((token) => token?.externalUserId)).toEqual([
      ...days.map((_, index) => `day-${index}`),
      undefined,
    ]);
  });

  it('count as expired, not as unknown, after they expire', async () => {
    const token = await mcpToken(service, 'expired');
    using _clock = stopClock(service, new Date(Date.now() + 2 * DAY));
    const all = [token, generateSecret('mcp_dev_'), 'malformed'];
    const found = await Promise.all(all.map((each) => verifier.verify(each)));
    expect(found).toEqual(['expired', undefined, undefined]);
  });

  it('are accepted in all of 40 concurrent requests with the same token', async () => {
    const token = await mcpToken(service, 'same');
    const all = Array.from({ length: 40 }, () => token);
    const found = await Promise.all(all.map((token) => verifier.verify(token)));
    expect(found.map((each) => (typeof each === 'object' ? each.externalUserId : each))).toEqual(
      all.map(() => 'same'),
    );
  });

  it('can be revoked and introspected only by their client', async () => {
    const token = await mcpToken(service, 'user-4');
    await tokens.revoke(service.production.clientId, token);
    expect(await tokens.introspect(clientId, token)).toBeDefined();
    expect(await tokens.introspect(service.production.clientId, token)).toBeUndefined();
    await tokens.revoke(clientId, token);
    expect(await tokens.introspect(clientId, token)).toBeUndefined();
  });

  it('stay valid and can be revoked if their day has no partition, even after the background work runs again', async () => {
    const today = partitionOf(new Date());
    for (const offset of [0, 1, 2, 3, 4, 5, 6, 7])
      await service.database.query(`DROP TABLE ${partitionOf(new Date(Date.now() + offset * DAY))}`);
    const [kept, revoked] = [await mcpToken(service, 'kept'), await mcpToken(service, 'revoked')];
    expect(await tableOf(kept)).toBe('mcp_token_default');
    expect(await tokens.introspect(clientId, kept)).toBeDefined();

    await service.app.get(PartitionRotation).run();
    expect(await tableOf(kept)).toBe('mcp_token_default');
    expect(await tokens.introspect(clientId, kept)).toBeDefined();
    await tokens.revoke(clientId, revoked);
    expect(await tokens.introspect(clientId, revoked)).toBeUndefined();
    const partitions = await service.database.query<{ name: string }>(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'mcp_token'::regclass`,
    );
    const names = partitions.map(({ name }) => name);
    expect(names).not.toContain(today);
    expect(names).toContain(partitionOf(new Date(Date.now() + 2 * DAY)));
    // Tokens of days without a partition are still accepted.
    expect(await tableOf(await mcpToken(service, 'later'))).toBe('mcp_token_default');
  });
});
