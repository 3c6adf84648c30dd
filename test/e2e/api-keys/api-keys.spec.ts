import { randomUUID } from 'node:crypto';
import type { Request } from 'express';
import { DataSource } from 'typeorm';
import { CredentialsCheck, SCOPES, type Scope } from '../../../src/infrastructure/auth/index.js';
import { openRequestContext } from '../../../src/infrastructure/http/index.js';
import { DAY, HOUR, SECOND } from '../../../src/infrastructure/time/index.js';
import { ApiClientsService } from '../../../src/modules/api-clients/index.js';
import { ApiKey } from '../../../src/modules/api-keys/api-key.entity.js';
import { ApiKeysService } from '../../../src/modules/api-keys/index.js';
import { actorOf, AuditLog } from '../../../src/modules/audit-logs/index.js';
import { auditEntries, type AuditEntry } from '../../support/logs/audited.js';
import { moveClock } from '../../support/clock.js';
import { committed } from '../../support/documents/documents.js';
import { eventually } from '../../support/eventually.js';
import { CREATE_MCP_TOKEN, UNKNOWN_ID } from '../../support/documents/operations.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { watchStatements } from '../../support/database/statements.js';
import { basic, error, useTestApp, type TestApp } from '../../support/test-app.js';
import { createLink } from '../../support/agents/user-links.js';

interface Operation {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly isForm: boolean;
  readonly isPlatform: boolean;
  readonly takesBearer: boolean;
  readonly hasBody: boolean;
  readonly scope: Scope | 'any';
}

interface Documented {
  readonly operationId: string;
  readonly 'x-scope'?: Scope | 'any';
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly requestBody?: { readonly content: object };
}

const { paths } = JSON.parse(committed('openapi.json')) as {
  readonly paths: Record<string, Record<string, Documented>>;
};
/** The operations that take the credentials of programs. */
const OPERATIONS = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([, { security }]) => security.some((each) => 'basic' in each || 'bearer' in each))
    .map(([method, { operationId, security, requestBody, 'x-scope': scope }]): Operation => {
      if (scope === undefined) throw new Error(`${operationId} has no scope.`);
      const query = ['listRequestLogs', 'listWebhookEndpoints'].includes(operationId)
        ? '?environment=production'
        : '';
      return {
        operationId,
        method: method.toUpperCase(),
        path: `${path.replaceAll(/\{\w+\}/g, UNKNOWN_ID)}${query}`,
        isForm: 'application/x-www-form-urlencoded' in (requestBody?.content ?? {}),
        isPlatform: security.some((each) => 'basic' in each),
        takesBearer: security.some((each) => 'bearer' in each),
        hasBody: requestBody !== undefined,
        scope,
      };
    }),
);

const service = useTestApp({ TRUSTED_PROXY_HOPS: '1' });
let names = 0;

interface Made {
  readonly id: string;
  readonly clientId: string;
  readonly secret: string;
}

/** Creates a key, as credentials. */
async function makeKey(
  scopes: readonly string[] = ['mcp_tokens:write'],
  {
    client = service.production,
    of = service,
    ...options
  }: {
    client?: { readonly clientId: string };
    of?: Pick<TestApp, 'app'>;
    ipRanges?: string[];
    expiresInDays?: number;
    name?: string;
  } = {},
): Promise<Made> {
  names += 1;
  const { stored, token } = await of.app
    .get(ApiKeysService)
    .create(client.clientId, { name: `key ${names}`, scopes, ...options });
  rememberSecret(token);
  return { id: stored.id, clientId: client.clientId, secret: token };
}

async function accessTokenOf(key: Made, form: Record<string, string> = {}): Promise<string> {
  const { body } = await tokenResponse(key, form);
  rememberSecret(String(body['access_token']));
  return String(body['access_token']);
}

const tokenResponse = (key: Pick<Made, 'clientId' | 'secret'>, form: Record<string, string> = {}) =>
  service.request('/oauth/token', {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', ...form }).toString(),
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: basic(key),
    },
  });

const introspect = (token: string) =>
  service.request('/oauth/introspect', {
    method: 'POST',
    body: new URLSearchParams({ token }).toString(),
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: basic(service.production),
    },
  });

type Outcome = 'refused' | 'scope' | 'admitted';

async function outcomeOf(
  { method, path, isForm, hasBody }: Operation,
  headers: Record<string, string>,
): Promise<Outcome> {
  const { status, body } = await service.request(path, {
    method,
    ...(hasBody && { body: isForm ? 'token=unknown' : {} }),
    headers: { ...(isForm && { 'content-type': 'application/x-www-form-urlencoded' }), ...headers },
  });
  if (status === 401) return 'refused';
  return body['error_code'] === 'INSUFFICIENT_SCOPE' ? 'scope' : 'admitted';
}

const asBearer = ({ secret }: Made): Record<string, string> => ({ authorization: `Bearer ${secret}` });
/** How a key is sent to the operation. */
const sent = ({ isPlatform }: Operation, key: Made): Record<string, string> =>
  isPlatform ? { authorization: basic(key) } : asBearer(key);

describe('Every operation', () => {
  const keys = new Map<Scope, Made>();
  const tokens = new Map<Scope, string>();
  let all: Record<'ended' | 'expired' | 'otherEnvironment' | 'outside' | 'every', Made>;
  let cookie: string;
  let restricted: Awaited<ReturnType<TestApp['anotherOrganization']>>['production'];

  beforeAll(async () => {
    for (const scope of SCOPES) {
      keys.set(scope, await makeKey([scope]));
      tokens.set(scope, await accessTokenOf(keys.get(scope) as Made));
    }
    all = {
      ended: await makeKey(SCOPES),
      expired: await makeKey(SCOPES),
      otherEnvironment: await makeKey(SCOPES, { client: service.development }),
      outside: await makeKey(SCOPES, { ipRanges: ['203.0.113.0/24'] }),
      every: await makeKey(SCOPES),
    };
    await service.app.get(ApiKeysService).revoke(all.ended.id);
    await service.database.query(
      "UPDATE api_key SET expires_at = now() - interval '1 second' WHERE id = $1",
      [all.expired.id],
    );
    ({ cookie } = await service.login('owner'));
    restricted = (await service.anotherOrganization()).production;
    await service.app.get(ApiClientsService).restrictSecret(restricted.clientId, 'signing');
  });

  it('that takes the credentials of a program has a scope, and every scope an operation', () => {
    expect(OPERATIONS.length).toBeGreaterThan(35);
    const used = new Set(OPERATIONS.map(({ scope }) => scope));
    expect([...used].toSorted()).toEqual(['any', ...SCOPES].toSorted());
    expect(OPERATIONS.filter(({ scope }) => scope === 'any').map(({ operationId }) => operationId)).toEqual([
      'getCurrentUser',
    ]);
  });

  it('that logs users in, with whose rights they act, requires a scope of its own', () => {
    const ids = OPERATIONS.filter(({ scope }) => scope === 'users:identify').map(
      ({ operationId }) => operationId,
    );
    expect(ids).toEqual(['completeAgentAuthorization']);
  });

  it.each(OPERATIONS)('admits only what has its scope: $operationId', async (operation) => {
    const { scope, isPlatform, takesBearer } = operation;
    const outcomes: Record<string, Outcome> = {};
    const expected: Record<string, Outcome> = {};
    for (const each of SCOPES) {
      const allowed = scope === 'any' || scope === each ? 'admitted' : 'scope';
      outcomes[each] = await outcomeOf(operation, sent(operation, keys.get(each) as Made));
      expected[each] = allowed;
      outcomes[`token ${each}`] = await outcomeOf(operation, { authorization: `Bearer ${tokens.get(each)}` });
      expected[`token ${each}`] = takesBearer ? allowed : 'refused';
    }
    const another = SCOPES.find((each) => each !== scope) as Scope;
    for (const each of [scope === 'any' ? another : scope, another]) {
      outcomes[`Bearer ${each}`] = await outcomeOf(operation, asBearer(keys.get(each) as Made));
      expected[`Bearer ${each}`] = takesBearer ? (expected[each] as Outcome) : 'refused';
    }
    expect(outcomes).toEqual(expected);
    expect(await outcomeOf(operation, { authorization: basic(service.production) })).toBe(
      isPlatform ? 'admitted' : 'refused',
    );
    expect(await outcomeOf(operation, { cookie })).toBe(isPlatform ? 'refused' : 'admitted');
  });

  it.each(OPERATIONS)('refuses the same way whatever is wrong: $operationId', async (operation) => {
    const { isPlatform, takesBearer, method, path, hasBody, isForm } = operation;
    const responseOf = async (headers: Record<string, string>) => {
      const response = await service.request(path, {
        method,
        ...(hasBody && { body: isForm ? 'token=unknown' : {} }),
        headers: { ...(isForm && { 'content-type': 'application/x-www-form-urlencoded' }), ...headers },
      });
      const { status, body, headers: received } = response;
      return { status, body, challenge: received.get('www-authenticate') };
    };
    const wrong = await responseOf(
      isPlatform
        ? { authorization: basic({ clientId: service.production.clientId, secret: 'wrong' }) }
        : { authorization: 'Bearer wrong' },
    );
    expect(wrong.status).toBe(401);
    const { ended, expired, outside, otherEnvironment } = all;
    const refused = [ended, expired, outside, { ...all.every, secret: all.every.secret.slice(0, -1) }];
    for (const key of refused) expect(await responseOf(sent(operation, key))).toEqual(wrong);
    if (!isPlatform) return;
    const wrongToken = await responseOf({ authorization: 'Bearer wrong' });
    expect(wrongToken.body['error_message']).toContain(
      takesBearer ? 'The Bearer token is not accepted.' : 'must use the Basic scheme',
    );
    for (const key of refused) expect(await responseOf(asBearer(key))).toEqual(wrongToken);
    const { clientId } = service.production;
    expect(await responseOf({ authorization: basic({ ...otherEnvironment, clientId }) })).toEqual(wrong);
    expect(await responseOf({ authorization: basic(restricted) })).toEqual(wrong);
  });
});

describe('The request log of the client', () => {
  const lastEntry = async (clientId: string) =>
    (
      await service.database.query<Record<string, unknown>>(
        'SELECT status_code, error_message, api_key FROM request_log WHERE client_id = $1 ORDER BY created_at DESC, id DESC LIMIT 1',
        [clientId],
      )
    )[0];
  const send = async (credentials: Pick<Made, 'clientId' | 'secret'>, address = '198.51.100.7') =>
    (
      await service.request(CREATE_MCP_TOKEN.path, {
        body: CREATE_MCP_TOKEN.body,
        headers: { authorization: basic(credentials), 'x-forwarded-for': address },
      })
    ).status;

  it('names the key of a request', async () => {
    const key = await makeKey(undefined, { name: 'Backend' });
    expect(await send(key)).toBe(200);
    expect(await lastEntry(key.clientId)).toEqual({
      status_code: 200,
      error_message: null,
      api_key: 'Backend',
    });
  });

  it('says why a key was refused, and from where it came', async () => {
    const { development, production } = await service.anotherOrganization();
    const other = await service.anotherOrganization();
    const make = (options: Parameters<typeof makeKey>[1] = {}) =>
      makeKey(undefined, { client: development, ...options });
    const reasonOf = async (credentials: Pick<Made, 'clientId' | 'secret'>, address?: string) => {
      expect(await send(credentials, address)).toBe(401);
      return (await lastEntry(credentials.clientId))?.['error_message'];
    };
    const from = 'The request came from 198.51.100.7.';
    const ended = await make({ name: 'ended' });
    await service.app.get(ApiKeysService).revoke(ended.id);
    expect(await reasonOf(ended)).toBe(`The API key “ended” was ended. ${from}`);
    const live = await make({ client: production, name: 'live' });
    expect(await reasonOf({ ...live, clientId: development.clientId })).toBe(
      `The API key “live” belongs to the production client. ${from}`,
    );
    const office = await make({ name: 'office', ipRanges: ['203.0.113.0/24', '2001:db8::/32'] });
    expect(await reasonOf(office)).toBe(`The API key “office” is not accepted from this address. ${from}`);
    for (const address of ['203.0.113.9', '203.0.113.9:443', '::ffff:203.0.113.9', '[2001:db8::1]:443'])
      expect(await send(office, address)).toBe(200);
    // Also directly after it was accepted.
    expect(await reasonOf(office)).toContain('not accepted from this address');
    const foreign = await make({ client: other.development, name: 'foreign' });
    expect(await reasonOf({ ...foreign, clientId: development.clientId })).toBe(
      `The API key is unknown. ${from}`,
    );
    await service.app.get(ApiClientsService).restrictSecret(development.clientId, 'signing');
    using _clock = moveClock(service, 6 * SECOND);
    expect(await reasonOf(development)).toBe(`The secret only signs webhooks: send an API key. ${from}`);
  });

  it('says why a Bearer token was refused', async () => {
    const key = await makeKey(['request_logs:read'], { name: 'monitor', ipRanges: ['203.0.113.0/24'] });
    const headers = { authorization: `Bearer ${key.secret}`, 'x-forwarded-for': '198.51.100.7' };
    expect((await service.request('/me', { headers })).status).toBe(401);
    expect(await lastEntry(key.clientId)).toMatchObject({
      status_code: 401,
      error_message:
        'The API key “monitor” is not accepted from this address. The request came from 198.51.100.7.',
    });
  });
});

describe('An API key', () => {
  const statusOf = async (key: Made): Promise<number> =>
    (await service.request('/me', { headers: { authorization: `Bearer ${key.secret}` } })).status;

  it('has a format that scanners recognize, and is stored as a digest', async () => {
    const key = await makeKey();
    expect(key.secret).toMatch(/^mck_live_[0-9A-Za-z]{49}$/);
    expect((await makeKey(undefined, { client: service.development })).secret).toMatch(/^mck_dev_/);
    const [row] = await service.database.query<{ row: string }>(
      'SELECT api_key::text AS row FROM api_key WHERE id = $1',
      [key.id],
    );
    expect(row?.row).not.toContain(key.secret);
  });

  it('acts as a member with its own name, and only where no login is required', async () => {
    const key = await makeKey(['webhook_endpoints:write'], { name: 'Terraform' });
    const { body } = await service.request('/me', { token: key.secret });
    expect(body).toMatchObject({
      id: key.id,
      name: 'Terraform',
      email: 'API key',
      role: 'member',
      token: { client_id: key.clientId, environment: 'production', scopes: ['webhook_endpoints:write'] },
    });
    const page = await service.request('/dashboard', { token: key.secret, headers: { accept: 'text/html' } });
    expect(page.status).toBe(303);
  });

  it('is the actor of audit log entries', async () => {
    const key = await makeKey(['webhook_endpoints:write'], { name: 'Terraform 2' });
    const created = await service.request('/webhook-endpoints/create', {
      token: key.secret,
      body: { environment: 'production', url: 'https://hooks.example.com/key' },
    });
    expect(created.status).toBe(200);
    const [entry] = await service.database.query(
      "SELECT actor_name, actor_email FROM audit_log WHERE action = 'webhook.create' ORDER BY sequence DESC LIMIT 1",
    );
    expect(entry).toEqual({ actor_name: 'Terraform 2', actor_email: 'API key' });
  });

  it('is the actor of audit log entries about platform operations, and must still have its scopes', async () => {
    const client = service.development;
    const key = await makeKey(['users:erase', 'sign_in_links:write'], { name: 'Backend', client });
    const { body: link } = await createLink(service, { external_user_id: 'linked-by-key' });
    const headers = { authorization: `Bearer ${await accessTokenOf(key)}` };
    const requests = {
      'sign_in_link.cancel': { method: 'POST', path: `/sign-in-links/${link.id}/cancel` },
      'external_user.erase': { method: 'DELETE', path: '/external-users/erased-by-key' },
    };
    for (const [action, { method, path }] of Object.entries(requests)) {
      const { status } = await service.request(path, { method, headers });
      expect(status).toBeLessThan(300);
      const [{ event, actor }] = (await auditEntries(service)) as [AuditEntry];
      expect({ action: event.action, ...actor }).toEqual({ action, name: 'Backend', email: 'API key' });
    }
    // Between the admission of a request and its effect, the key can lose a scope.
    const actor = actorOf(
      {
        ...client,
        organizationId: service.organizationId,
        enabledOperations: new Set(),
        environment: 'development',
        key: { id: key.id, name: 'Backend', scopes: new Set<Scope>(['audit_logs:read']) },
      },
      { ip: '', userAgent: '' },
    );
    const record = service.app.get(AuditLog).record({ action: 'external_user.erase', actor });
    const challenge = expect.stringMatching(/^Basic /) as string;
    await expect(record).rejects.toMatchObject({
      code: 'INVALID_API_KEYS',
      headers: { 'WWW-Authenticate': challenge },
    });
  });

  it('is refused within 5 seconds after its end, by every process', async () => {
    const key = await makeKey();
    expect(await statusOf(key)).toBe(200);
    await service.database.query('UPDATE api_key SET revoked_at = now() WHERE id = $1', [key.id]);
    using _clock = moveClock(service, 5 * SECOND + 1);
    expect(await statusOf(key)).toBe(401);
  });

  it('expires', async () => {
    const key = await makeKey(undefined, { expiresInDays: 30 });
    using _before = moveClock(service, 30 * DAY - 5 * SECOND);
    expect(await statusOf(key)).toBe(200);
    using _after = moveClock(service, 30 * DAY + SECOND);
    expect(await statusOf(key)).toBe(401);
  });

  it('is rotated with an overlap, and its successor has the same properties', async () => {
    const keys = service.app.get(ApiKeysService);
    const key = await makeKey(['request_logs:read'], {
      ipRanges: ['127.0.0.0/8'],
      name: 'rotated',
      expiresInDays: 9,
    });
    const { stored, token } = await keys.rotate(key.id, 2);
    rememberSecret(token);
    const successor = { ...key, id: stored.id, secret: token };
    expect(stored).toMatchObject({
      name: 'rotated',
      scopes: ['request_logs:read'],
      ipRanges: ['127.0.0.0/8'],
    });
    expect([await statusOf(key), await statusOf(successor)]).toEqual([200, 200]);
    await expect(keys.rotate(key.id)).rejects.toThrow('has been rotated already');
    using _later = moveClock(service, 2 * HOUR + 5 * SECOND);
    expect([await statusOf(key), await statusOf(successor)]).toEqual([401, 200]);
    await expect(keys.rotate(successor.id, 169)).rejects.toThrow('between 0 and 168 hours');
    await keys.rotate(successor.id, 0);
    using _afterwards = moveClock(service, 2 * HOUR + 15 * SECOND);
    expect(await statusOf(successor)).toBe(401);
  });

  it('keeps its rights when its creator gets another role', async () => {
    const creator = await service.login('admin');
    const { stored, token } = await service.app
      .get(ApiKeysService)
      .create(
        service.production.clientId,
        { name: 'of an admin', scopes: ['request_logs:read'] },
        { userId: creator.userId, email: creator.email },
      );
    rememberSecret(token);
    const key = { ...service.production, secret: token, id: stored.id };
    expect(await statusOf(key)).toBe(200);
    await service.database.query("UPDATE dashboard_user SET role = 'viewer' WHERE id = $1", [creator.userId]);
    using _clock = moveClock(service, 6 * SECOND);
    const path = '/request-logs?environment=production';
    expect((await service.request(path, { token })).status).toBe(200);
    expect((await service.request('/me', { token })).body).toMatchObject({ role: 'member' });
  });

  it('costs the same statements to refuse as a wrong secret, whatever is wrong', async () => {
    const ended = await makeKey();
    await service.app.get(ApiKeysService).revoke(ended.id);
    const outside = await makeKey(undefined, { ipRanges: ['203.0.113.0/24'] });
    const good = await makeKey();
    const { clientId } = service.production;
    const other = await service.anotherOrganization();
    const foreign = await makeKey(undefined, { client: other.production });
    const wrong = [
      { clientId, secret: 'wrong' },
      { clientId: randomUUID(), secret: 'wrong' },
      ended,
      outside,
      { ...foreign, clientId },
      { ...good, secret: `${good.secret.slice(0, -1)}x` },
      { clientId: randomUUID(), secret: good.secret },
    ];
    const statements = watchStatements(service);
    const costs: number[] = [];
    for (const credentials of wrong) {
      const { length } = statements;
      const headers = { authorization: basic(credentials) };
      const { status } = await service.request(CREATE_MCP_TOKEN.path, {
        body: CREATE_MCP_TOKEN.body,
        headers,
      });
      expect(status).toBe(401);
      costs.push(statements.slice(length).filter((each) => /\bapi_client\b/.test(each)).length);
    }
    expect(costs).toEqual(wrong.map(() => 1));
  });

  it('records its last use and the address', async () => {
    const key = await makeKey();
    await service.request('/me', { token: key.secret, headers: { 'x-forwarded-for': '203.0.113.5' } });
    await eventually('the use is recorded', async () => {
      const [row] = await service.database.query<{ last_used_ip: string | null }>(
        'SELECT last_used_ip FROM api_key WHERE id = $1 AND last_used_at IS NOT NULL',
        [key.id],
      );
      return row?.last_used_ip === '203.0.113.5';
    });
  });

  it('records its last use although the clock was ahead at the use before', async () => {
    const key = await makeKey();
    await service.database.query(`UPDATE api_key SET last_used_at = now() + interval '1 day' WHERE id = $1`, [
      key.id,
    ]);
    await service.request('/me', { token: key.secret });
    await eventually('the use is recorded', async () => {
      const used = 'SELECT FROM api_key WHERE id = $1 AND last_used_at <= now()';
      return (await service.database.query(used, [key.id])).length === 1;
    });
  });

  it.each([
    [{ name: ' ' }, 'The name is blank.'],
    [{ name: 'x'.repeat(101) }, 'must not be greater than 100 characters'],
    [{ scopes: [] }, 'Each scope must be one of'],
    [{ scopes: ['everything'] }, 'Each scope must be one of'],
    [{ ipRanges: ['office'] }, 'office is neither an IP address nor a range'],
    [{ ipRanges: Array.from({ length: 21 }, (_, index) => `10.0.0.${index}`) }, 'at most 20 IP ranges'],
    [{ expiresInDays: 0 }, 'must expire in 1 to 3650 days'],
    [{ expiresInDays: NaN }, 'must expire in 1 to 3650 days'],
  ])('is not created with %j', async (properties, message) => {
    const request = { name: 'invalid', scopes: ['mcp_tokens:write'], ...properties };
    const creation = service.app.get(ApiKeysService).create(service.production.clientId, request);
    await expect(creation).rejects.toThrow(message);
  });

  it('is one of at most 50 of its client, also if they are made at once, and the only one with its name', async () => {
    const { development } = await service.anotherOrganization();
    const keys = service.app.get(ApiKeysService);
    const create = (name: string) =>
      keys.create(development.clientId, { name, scopes: ['merchants:read'] }).then(
        ({ token }) => rememberSecret(token),
        (problem: Error) => problem.message,
      );
    const sameName = await Promise.all(Array.from({ length: 5 }, () => create('one')));
    expect(sameName.filter((each) => each === undefined)).toHaveLength(1);
    expect(sameName).toContain('The API client has another key with this name.');
    const others = await Promise.all(Array.from({ length: 60 }, (_, index) => create(`key ${index}`)));
    expect(others.filter((each) => each === undefined)).toHaveLength(49);
    expect(await keys.list(development.clientId)).toHaveLength(50);
  });

  it('is not listed after it was replaced and ended, and can be one of 100 replaced keys that are accepted', async () => {
    const { development } = await service.anotherOrganization();
    const keys = service.app.get(ApiKeysService);
    let { stored } = await keys.create(development.clientId, { name: 'often', scopes: ['merchants:read'] });
    const rotate = async (hours: number): Promise<void> =>
      void ({ stored } = await keys.rotate(stored.id, hours));
    for (let rotation = 0; rotation < 3; rotation += 1) await rotate(0);
    let loaded = 0;
    const { subscribers } = service.app.get(DataSource);
    subscribers.push({ listenTo: () => ApiKey, afterLoad: () => void (loaded += 1) });
    const listed = await keys.list(development.clientId);
    subscribers.pop();
    expect([loaded, listed.map(({ id }) => id)]).toEqual([1, [stored.id]]);
    for (let rotation = 0; rotation < 100; rotation += 1) await rotate(1);
    await expect(rotate(1)).rejects.toThrow('100 replaced keys of the API client are still accepted');
    expect(await keys.list(development.clientId)).toHaveLength(101);
    // After a leak, the key can be replaced nevertheless.
    await rotate(0);
    using _later = moveClock(service, HOUR + SECOND);
    await rotate(1);
  });
});

describe('The client credentials grant', () => {
  it('issues an access token with the scopes of the key, or fewer', async () => {
    const key = await makeKey(['request_logs:read', 'webhook_endpoints:read']);
    const { status, body } = await tokenResponse(key);
    expect([status, body]).toEqual([
      200,
      {
        token_type: 'Bearer',
        expires_in: 900,
        access_token: expect.stringMatching(/^eyJ/),
        scope: 'request_logs:read webhook_endpoints:read',
      },
    ]);
    const narrow = await tokenResponse(key, { scope: 'request_logs:read' });
    expect(narrow.body['scope']).toBe('request_logs:read');
    const token = String(narrow.body['access_token']);
    rememberSecret(token, String(body['access_token']));
    expect((await service.request('/request-logs?environment=production', { token })).status).toBe(200);
    expect((await service.request('/webhook-endpoints?environment=production', { token })).body).toEqual(
      error('INVALID_REQUEST', 'INSUFFICIENT_SCOPE', 'The API key lacks the scope webhook_endpoints:read.'),
    );
    const { body: described } = await introspect(token);
    expect(described).toMatchObject({
      active: true,
      client_id: key.clientId,
      sub: key.clientId,
      roles: ['member'],
    });
    expect(described).not.toHaveProperty('key_id');
  });

  it('refuses a scope that the key lacks, a secret, and a wrong key', async () => {
    const key = await makeKey(['request_logs:read']);
    for (const scope of ['webhook_endpoints:write', 'request_logs:read everything'])
      expect((await tokenResponse(key, { scope })).body['error']).toBe('invalid_scope');
    expect((await tokenResponse(service.production)).body['error']).toBe('unauthorized_client');
    const wrong = await tokenResponse({ ...key, secret: 'wrong' });
    expect([wrong.status, wrong.body['error']]).toEqual([401, 'invalid_client']);
    await service.app.get(ApiKeysService).revoke(key.id);
    using _clock = moveClock(service, 6 * SECOND);
    expect((await tokenResponse(key)).body).toEqual(wrong.body);
  });

  it('takes the client ID and the key in the form, too, as many libraries send them', async () => {
    const key = await makeKey(['request_logs:read']);
    const sent = (client_id: string, client_secret: string, as?: { clientId: string; secret: string }) =>
      service.request('/oauth/token', {
        method: 'POST',
        body: new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret }).toString(),
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          ...(as && { authorization: basic(as) }),
        },
      });
    const { status, body } = await sent(key.clientId, key.secret);
    rememberSecret(String(body['access_token']));
    expect([status, body['scope']]).toEqual([200, 'request_logs:read']);
    expect((await sent(service.production.clientId, service.production.secret)).body['error']).toBe(
      'unauthorized_client',
    );
    for (const wrong of ['wrong: %', key.secret.slice(0, -1)])
      expect((await sent(key.clientId, wrong)).body).toEqual(
        (await tokenResponse({ ...key, secret: 'wrong' })).body,
      );
    // The header says who sends the request.
    expect((await sent(key.clientId, key.secret, { ...key, secret: 'wrong' })).status).toBe(401);
  });

  it('issues tokens that end with the key, and lose the scopes that it loses', async () => {
    const key = await makeKey(['request_logs:read', 'webhook_endpoints:read']);
    const token = await accessTokenOf(key);
    const statusOf = async () =>
      (await service.request('/webhook-endpoints?environment=production', { token })).status;
    expect(await statusOf()).toBe(200);
    const introspected = async () => (await introspect(token)).body;
    expect(await introspected()).toMatchObject({ scope: 'request_logs:read webhook_endpoints:read' });
    const setScopes = (scopes: string) =>
      service.database.query('UPDATE api_key SET scopes = $2 WHERE id = $1', [key.id, scopes]);
    await setScopes('{request_logs:read}');
    expect(await statusOf()).toBe(403);
    expect(await introspected()).toMatchObject({ active: true, scope: 'request_logs:read' });
    await setScopes('{audit_logs:read}');
    expect(await introspected()).toEqual({ active: false });
    await service.app.get(ApiKeysService).revoke(key.id);
    expect(await statusOf()).toBe(401);
  });

  describe('are checked again for responses that stay open', () => {
    const areAccepted = (...headers: string[]): Promise<boolean[]> =>
      Promise.all(
        headers.map((authorization) => {
          const request = { headers: { authorization }, socket: {}, ip: '127.0.0.1' } as unknown as Request;
          openRequestContext(request);
          return service.app
            .get(CredentialsCheck, { strict: false })
            .areAccepted(request, 'webhook_events:read');
        }),
      );

    it('which end when the key loses the scope', async () => {
      const key = await makeKey(['webhook_events:read']);
      const all = [basic(key), `Bearer ${await accessTokenOf(key)}`, basic(service.production)];
      expect(await areAccepted(...all)).toEqual([true, true, true]);
      await service.database.query("UPDATE api_key SET scopes = '{request_logs:read}' WHERE id = $1", [
        key.id,
      ]);
      using _clock = moveClock(service, 6 * SECOND);
      expect(await areAccepted(...all)).toEqual([false, false, true]);
    });

    it('which end when the address is no longer one of the key', async () => {
      const key = await makeKey(['webhook_events:read'], { ipRanges: ['127.0.0.0/8'] });
      const all = [basic(key), `Bearer ${key.secret}`, `Bearer ${await accessTokenOf(key)}`];
      expect(await areAccepted(...all)).toEqual([true, true, true]);
      await service.database.query("UPDATE api_key SET ip_ranges = '{203.0.113.0/24}' WHERE id = $1", [
        key.id,
      ]);
      using _clock = moveClock(service, 6 * SECOND);
      expect(await areAccepted(...all)).toEqual([false, false, false]);
    });

    it('which stay open after a rotation until the overlap ends', async () => {
      const key = await makeKey(['webhook_events:read']);
      const all = [basic(key), `Bearer ${key.secret}`];
      rememberSecret((await service.app.get(ApiKeysService).rotate(key.id, 2)).token);
      using _before = moveClock(service, HOUR);
      expect(await areAccepted(...all)).toEqual([true, true]);
      using _after = moveClock(service, 2 * HOUR + 6 * SECOND);
      expect(await areAccepted(...all)).toEqual([false, false]);
    });
  });

  it('is in the metadata', async () => {
    const { body } = await service.request('/.well-known/oauth-authorization-server');
    expect(body).toMatchObject({
      grant_types_supported: [
        'urn:ietf:params:oauth:grant-type:device_code',
        'client_credentials',
        'urn:ietf:params:oauth:grant-type:jwt-bearer',
      ],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      scopes_supported: SCOPES,
    });
  });
});

describe('The secret', () => {
  it('is recorded with the address that last sent it', async () => {
    const { development } = await service.anotherOrganization();
    await service.request('/merchants', { as: development, headers: { 'x-forwarded-for': '203.0.113.6' } });
    await eventually('the use is recorded', async () => {
      const [row] = await service.database.query<{ last_used_ip: string | null }>(
        'SELECT last_used_ip FROM api_secret WHERE client_id = $1',
        [development.clientId],
      );
      return row?.last_used_ip === '203.0.113.6';
    });
  });
});
