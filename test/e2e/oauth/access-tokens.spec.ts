import { createHmac, createPublicKey, randomUUID } from 'node:crypto';
import { Controller, Get, Query } from '@nestjs/common';
import {
  decodeJwt,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  SignJWT,
  UnsecuredJWT,
  type JWK,
  type JWTPayload,
} from 'jose';
import { DAY, MINUTE, SECOND } from '../../../src/infrastructure/time/index.js';
import {
  CurrentActor,
  requireEnvironment,
  type DashboardActor,
} from '../../../src/infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../src/infrastructure/config/index.js';
import { generateDatedSecret } from '../../../src/infrastructure/crypto/index.js';
import { DashboardOperation } from '../../../src/infrastructure/surfaces/index.js';
import { OAuthModule, TokenSigningKeysService } from '../../../src/modules/oauth/index.js';
import { TokenSigningKeysJob } from '../../../src/modules/oauth/tokens/token-signing-keys.job.js';
import { TokenKeyring } from '../../../src/modules/oauth/tokens/token-keyring.js';
import { OAuthConfiguration } from '../../../src/modules/oauth/oauth.configuration.js';
import { ExpiryJob } from '../../../src/infrastructure/database/index.js';
import { grantRole, submitForm } from '../../support/pages/dashboard-forms.js';
import { mailTo, tokenIn } from '../../support/messages/mails.js';
import { Visitor } from '../../support/pages/visitor.js';
import { moveClock, stopClock } from '../../support/clock.js';
import {
  accessToken,
  decide,
  poll,
  sendForm,
  startFlow,
  type Fields,
} from '../../support/logins/device-flow.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { basic, error, useTestApp, type TestResponse, type Login, useLogin } from '../../support/test-app.js';

const NEW_PASSWORD = 'plum gravel orbit lantern';
const DASHBOARD_URL = 'https://dashboard.example.com';
const INVALID_ACCESS_TOKEN = error('INVALID_INPUT', 'INVALID_ACCESS_TOKEN', 'The access token is not valid.');

const DOCUMENT = {
  summary: 'Only in this test',
  description: 'Only in this test.',
  response: Object,
  responseDescription: 'It.',
  responseExample: {},
  errors: [],
};

@Controller('only-in-this-test')
class TestController {
  @Get('read')
  @DashboardOperation(
    { ...DOCUMENT, operationId: 'testRead' },
    { name: 'testRead', token: 'request_logs:read' },
  )
  read(@CurrentActor() actor: DashboardActor, @Query('environment') environment: PlatformEnvironment) {
    requireEnvironment(actor, environment);
    return { role: actor.role };
  }

  @Get('write')
  @DashboardOperation(
    { ...DOCUMENT, operationId: 'testWrite' },
    { name: 'testWrite', token: 'webhook_endpoints:write', role: 'admin' },
  )
  write() {
    return {};
  }
}

// Mounted in a module where the guards find their dependencies, before the application is created.
const controllers = Reflect.getMetadata('controllers', OAuthModule) as unknown[];
Reflect.defineMetadata('controllers', [...controllers, TestController], OAuthModule);
// Test files that follow in the same process share the modules.
afterAll(() => Reflect.defineMetadata('controllers', controllers, OAuthModule));

const service = useTestApp({
  DASHBOARD_URL,
  TRUSTED_PROXY_HOPS: '1',
  DASHBOARD_REQUESTS_PER_MINUTE: '100',
  INTROSPECTIONS_PER_MINUTE: '30',
});
const user = useLogin(service, 'admin');

const me = (token: string): Promise<TestResponse> => service.request('/me', { token });

function expectRejected({ status, headers, body }: TestResponse): void {
  expect([status, body]).toEqual([401, INVALID_ACCESS_TOKEN]);
  expect(headers.get('www-authenticate')).toBe(
    'Bearer realm="Dashboard API", error="invalid_token", error_description="The access token is not valid."',
  );
}

function expectExpired({ status, headers, body }: TestResponse): void {
  expect([status, body]).toEqual([
    401,
    error('INVALID_INPUT', 'INVALID_ACCESS_TOKEN', 'The access token has expired.'),
  ]);
  expect(headers.get('www-authenticate')).toBe(
    'Bearer realm="Dashboard API", error="invalid_token", error_description="The access token has expired."',
  );
}

describe('GET /me', () => {
  it('returns the user and the scopes of the token', async () => {
    const token = await accessToken(
      service,
      user,
      service.production,
      'webhook_endpoints:read request_logs:read',
    );
    const { status, headers, body } = await me(token);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toEqual({
      id: user.userId,
      name: 'The admin',
      email: user.email,
      organization_id: service.organizationId,
      role: 'admin',
      token: {
        client_id: service.production.clientId,
        environment: 'production',
        scopes: ['request_logs:read', 'webhook_endpoints:read'],
      },
    });
  });

  it('says that an MCP token is for the agent connector', async () => {
    const { status, body } = await me(await mcpToken());
    const message =
      'The access token is not valid. It is an MCP token, which only the agent connector accepts.';
    expect([status, body]).toEqual([401, error('INVALID_INPUT', 'INVALID_ACCESS_TOKEN', message)]);
  });

  it('accepts a dashboard login too', async () => {
    const { status, body } = await service.request('/me', { login: user });
    expect([status, body['id'], body['token']]).toEqual([200, user.userId, null]);
  });

  it('returns the current role', async () => {
    const promoted = await service.login('member');
    const token = await accessToken(service, promoted);
    expect((await me(token)).body['role']).toBe('member');
    await service.database.query(`UPDATE dashboard_user SET role = 'owner' WHERE id = $1`, [promoted.userId]);
    expect((await me(token)).body['role']).toBe('owner');
  });

  it('is rate-limited per user', async () => {
    const busy = await service.login('member');
    const token = await accessToken(service, busy);
    for (let index = 0; index < 100; index += 1) expect((await me(token)).status).toBe(200);
    const { status, headers, body } = await me(token);
    expect([status, body['error_code']]).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  });
});

describe('Access tokens', () => {
  let token: string;

  beforeAll(async () => {
    token = await accessToken(service, user);
  });
  beforeEach(async () => {
    expect((await me(token)).status).toBe(200);
  });

  /** Returns a token signed with the service's own key, valid except for the given changes. */
  async function signed(
    change: Record<string, unknown> = {},
    header: { typ?: string; kid?: string; alg?: string } = {},
  ): Promise<string> {
    const { kid, algorithm, key } = await service.app.get(TokenKeyring, { strict: false }).signer();
    const now = Math.floor(Date.now() / SECOND);
    const made = await new SignJWT({
      iss: DASHBOARD_URL,
      aud: DASHBOARD_URL,
      sub: user.userId,
      client_id: service.development.clientId,
      iat: now,
      exp: now + 900,
      jti: randomUUID(),
      environment: 'development',
      scope: 'request_logs:read',
      roles: ['admin'],
      org: service.organizationId,
      access_version: 0,
      ...change,
    })
      .setProtectedHeader({ alg: algorithm, typ: 'at+jwt', kid, ...header })
      .sign(key);
    rememberSecret(made);
    return made;
  }

  it('are accepted when valid, so that the rejections below have the intended reason', async () => {
    expect((await me(await signed())).status).toBe(200);
    expect((await me(await signed({ aud: [DASHBOARD_URL, 'other'] }))).status).toBe(200);
    expect((await me(await signed({}, { typ: 'application/at+jwt' }))).status).toBe(200);
  });

  it.each<[string, () => Promise<string>]>([
    ['audience MCP', () => signed({ aud: 'MCP' })],
    ['another audience', () => signed({ aud: 'https://dashboard.example.com.evil.example' })],
    ['the audience with a trailing slash', () => signed({ aud: `${DASHBOARD_URL}/` })],
    ['no audience', () => signed({ aud: undefined })],
    ['another issuer', () => signed({ iss: 'https://evil.example' })],
    ['no issuer', () => signed({ iss: undefined })],
    ['expired, of another audience', () => signed({ aud: 'MCP', exp: 1 })],
    ['expired, of an unknown key', () => signed({ exp: 1 }, { kid: randomUUID() })],
    ['no expiry', () => signed({ exp: undefined })],
    ['type JWT', () => signed({}, { typ: 'JWT' })],
    ['no type', () => signed({}, { typ: undefined as unknown as string })],
    ['unknown key id', () => signed({}, { kid: randomUUID() })],
    ['no key id', () => signed({}, { kid: undefined as unknown as string })],
    ['a path as key id', () => signed({}, { kid: '../../dev/null' })],
    ['no token id', () => signed({ jti: undefined })],
    ['unknown user', () => signed({ sub: randomUUID() })],
    ['another organization', () => signed({ org: randomUUID() })],
    ['not yet valid', () => signed({ nbf: Math.floor(Date.now() / SECOND) + 60 })],
  ])('are rejected: %s', async (_what, make) => expectRejected(await me(await make())));

  it('are rejected when signed with another key', async () => {
    const { alg, kid, typ } = decodeProtectedHeader(token);
    const [header = '', payload = '', signature = ''] = token.split('.');
    const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

    const unsecured = new UnsecuredJWT({ sub: user.userId }).encode();
    const none = `${encode({ alg: 'none', typ, kid })}.${payload}.`;

    const keys = (await service.request<{ keys: JWK[] }>('/.well-known/jwks.json')).body.keys;
    const jwk = keys.find((key) => key.kid === kid) as JWK;
    const pem = createPublicKey({ key: jwk as never, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    const confused = [pem.toString(), JSON.stringify(jwk)].map((secret) => {
      const input = `${encode({ alg: 'HS256', typ, kid })}.${payload}`;
      return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
    });

    const { privateKey } = await generateKeyPair('ES256');
    const foreign = await new SignJWT(JSON.parse(Buffer.from(payload, 'base64url').toString()) as JWTPayload)
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: String(kid) })
      .sign(privateKey);
    const { privateKey: rsa } = await generateKeyPair('RS256');
    const foreignRsa = await new SignJWT(
      JSON.parse(Buffer.from(payload, 'base64url').toString()) as JWTPayload,
    )
      .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: String(kid) })
      .sign(rsa);
    const own = await generateKeyPair('ES256', { extractable: true });
    const embedded = await new SignJWT(JSON.parse(Buffer.from(payload, 'base64url').toString()) as JWTPayload)
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', jwk: await exportJWK(own.publicKey) })
      .sign(own.privateKey);

    expect(alg).toBe('ES256');
    for (const each of [
      unsecured,
      none,
      ...confused,
      foreign,
      foreignRsa,
      embedded,
      `${header}.${payload}.`,
      `${header}.${payload}.${signature.slice(0, -4)}AAAA`,
      `${header}.${payload.slice(0, -2)}AA.${signature}`,
      `${header}.${payload}`,
      `${token}.`,
      'nonsense',
      'a.b.c',
    ]) {
      expectRejected(await me(each));
    }
  });

  it('are rejected when they are another kind of token', async () => {
    expectRejected(await me(service.development.secret));
    expectRejected(await me(user.cookie.replace('session=', '')));
  });

  it.each([
    [
      {},
      'The request has no credentials. Send the access token or an API key with the Bearer scheme in the Authorization header, or log in.',
    ],
    [
      { authorization: 'Basic aWQ6c2VjcmV0' },
      'The Authorization header must use the Bearer scheme, with the access token or an API key.',
    ],
    [{ cookie: 'session=made-up' }, 'The login has ended or is not complete. Log in again.'],
  ])('are required: %j', async (headers, message) => {
    const response = await service.request('/me', { headers: headers as Record<string, string> });
    expect([response.status, response.body]).toEqual([
      401,
      error('INVALID_INPUT', 'INVALID_ACCESS_TOKEN', message),
    ]);
    // RFC 6750, section 3.1: no error code for a request without an access token.
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="Dashboard API"');
  });

  it('are not accepted in a URL or a form', async () => {
    expect((await service.request(`/me?access_token=${token}`)).status).toBe(401);
  });

  it('expire after 15 minutes', async () => {
    const fresh = await accessToken(service, user);
    const issued = Number(decodeJwt(fresh).iat) * SECOND;
    {
      using _clock = stopClock(service, new Date(issued + 900 * SECOND - 1));
      expect((await me(fresh)).status).toBe(200);
    }
    {
      using _clock = stopClock(service, new Date(issued + 900 * SECOND));
      // The first request finds the token in the cache, the second verifies it.
      expectExpired(await me(fresh));
      expectExpired(await me(fresh));
    }
  });

  it.each([
    ['disabled', `UPDATE dashboard_user SET disabled_at = now() WHERE id = $1`],
    ['removed', `DELETE FROM dashboard_user WHERE id = $1`],
    ['moved to another organization', `UPDATE dashboard_user SET organization_id = $2 WHERE id = $1`],
  ])('stop working immediately when their user is %s', async (change, statement) => {
    const owner = await service.login('owner');
    const token = await accessToken(service, owner);
    expect((await me(token)).status).toBe(200);
    const { id } = await service.anotherOrganization();
    await service.database.query(statement, [owner.userId, ...(change.startsWith('moved') ? [id] : [])]);
    expectRejected(await me(token));
    expect((await introspect(token)).body).toEqual({ active: false });
  });
});

describe('Scope, role and environment', () => {
  it('are checked as the operation requires', async () => {
    const reader = await accessToken(service, user, service.development, 'request_logs:read');
    const writer = await accessToken(service, user, service.development, 'webhook_endpoints:write');
    const read = '/only-in-this-test/read';
    const [accepted, wrongEnvironment, insufficient] = [
      await service.request(`${read}?environment=development`, { token: reader }),
      await service.request(`${read}?environment=production`, { token: reader }),
      await service.request(`${read}?environment=development`, { token: writer }),
    ];
    expect([accepted.status, accepted.body]).toEqual([200, { role: 'admin' }]);
    expect([wrongEnvironment.status, wrongEnvironment.body['error_code']]).toEqual([
      403,
      'ENVIRONMENT_MISMATCH',
    ]);
    expect([insufficient.status, insufficient.body['error_code']]).toEqual([403, 'INSUFFICIENT_SCOPE']);
    expect(insufficient.headers.get('www-authenticate')).toBe(
      'Bearer realm="Dashboard API", error="insufficient_scope", scope="request_logs:read"',
    );
    const production = await accessToken(service, user, service.production);
    expect((await service.request(`${read}?environment=production`, { token: production })).status).toBe(200);
    for (const environment of ['development', 'production']) {
      expect((await service.request(`${read}?environment=${environment}`, { login: user })).status).toBe(200);
    }

    expect((await service.request('/only-in-this-test/write', { token: writer })).status).toBe(200);
    const member = await service.login('member');
    const token = await accessToken(service, member);
    const refused = await service.request('/only-in-this-test/write', { token: token });
    expect([refused.status, refused.body['error_code']]).toEqual([403, 'INSUFFICIENT_ROLE']);
  });
});

const introspect = (token: string, as = service.development) =>
  sendForm(service, '/oauth/introspect', { token }, { as });
const revoke = (token: string, { clientId } = service.development, more = {}) =>
  sendForm(service, '/oauth/revoke', { token, client_id: clientId, ...more });

async function mcpToken(fields = {}): Promise<string> {
  const body = { external_user_id: 'user-1', ...fields };
  const response = await service.request<{ token: string }>('/mcp/tokens/create', {
    body,
    as: service.development,
  });
  rememberSecret(response.body.token);
  return response.body.token;
}

describe('Introspection', () => {
  it('describes an access token to its client', async () => {
    const token = await accessToken(service, user, service.development, 'request_logs:read');
    const { status, headers, body } = await introspect(token);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toEqual({
      active: true,
      token_type: 'Bearer',
      iss: DASHBOARD_URL,
      aud: DASHBOARD_URL,
      sub: user.userId,
      client_id: service.development.clientId,
      iat: expect.any(Number),
      exp: Number(body['iat']) + 900,
      jti: expect.any(String),
      environment: 'development',
      scope: 'request_logs:read',
      roles: ['admin'],
      org: service.organizationId,
    });
  });

  it('describes an MCP token to its client', async () => {
    rememberSecret('+12125550123');
    const token = await mcpToken({ expires_in: 60, phone_number: '+12125550123' });
    const { body } = await introspect(token);
    expect(body).toEqual({
      active: true,
      token_type: 'mcp',
      sub: 'user-1',
      client_id: service.development.clientId,
      iat: expect.any(Number),
      exp: Number(body['iat']) + 60,
      environment: 'development',
      phone_number: '+12125550123',
    });
    expect((await introspect(await mcpToken())).body).not.toHaveProperty('phone_number');
    using _clock = moveClock(service, 61 * SECOND);
    expect((await introspect(token)).body).toEqual({ active: false });
  });

  it('returns only active: false to other clients', async () => {
    const otherOrganization = await service.anotherOrganization();
    const tokens = [await accessToken(service, user), await mcpToken()];
    for (const token of [...tokens, 'nonsense', service.development.secret]) {
      for (const as of [service.production, otherOrganization.development]) {
        const { status, body } = await introspect(token, as);
        expect([status, body]).toEqual([200, { active: false }]);
      }
    }
    for (const token of tokens) expect((await introspect(token)).body['active']).toBe(true);
  });

  it('requires client credentials, form-encoded or not', async () => {
    const token = await mcpToken();
    const send = (fields: Record<string, string>, authorization?: string) =>
      sendForm(service, '/oauth/introspect', fields, { headers: authorization ? { authorization } : {} });
    for (const authorization of [
      undefined,
      'Basic nonsense',
      basic({ clientId: service.development.clientId, secret: 'wrong' }),
      basic({ clientId: service.development.clientId, secret: '%E0%A4%A' }),
    ]) {
      const { status, headers, body } = await send({ token }, authorization);
      expect([status, body['error'], body['error_code']]).toEqual([
        401,
        'invalid_client',
        'INVALID_API_KEYS',
      ]);
      expect(headers.get('www-authenticate')).toMatch(/^Basic /);
      expect(headers.get('cache-control')).toBe('no-store');
    }
    const { clientId, secret } = service.development;
    const encoded = (text: string): string => text.replaceAll('-', '%2D').replaceAll('_', '%5F');
    const both = basic({ clientId: encoded(clientId), secret: encoded(secret) });
    expect((await send({ token }, both)).body['active']).toBe(true);
    const { status, body } = await send({}, basic(service.development));
    expect([status, body['error']]).toEqual([400, 'invalid_request']);
  });

  it('writes no request log entry', async () => {
    const before = await service.database.query('SELECT 1 FROM request_log');
    await introspect('nonsense');
    await sendForm(service, '/oauth/introspect', { token: 'x' }, {
      headers: { authorization: basic({ clientId: service.development.clientId, secret: 'wrong' }) },
    }); // prettier-ignore
    await mcpToken();
    expect(await service.database.query('SELECT 1 FROM request_log')).toHaveLength(before.length + 1);
  });

  it('is rate-limited per client', async () => {
    const { development } = await service.anotherOrganization();
    for (let index = 0; index < 30; index += 1) expect((await introspect('x', development)).status).toBe(200);
    const { status, body } = await introspect('x', development);
    expect([status, body['error'], body['error_code']]).toEqual([429, 'slow_down', 'RATE_LIMIT_EXCEEDED']);
  });
});

describe('Revocation', () => {
  it('revokes one access token immediately', async () => {
    const [token, other] = [await accessToken(service, user), await accessToken(service, user)];
    const { status, headers, body } = await revoke(token);
    expect([status, body]).toEqual([200, {}]);
    expect(headers.get('cache-control')).toBe('no-store');
    expectRejected(await me(token));
    expect((await introspect(token)).body).toEqual({ active: false });
    expect((await me(other)).status).toBe(200);
    expect((await revoke(token)).status).toBe(200);
    expect((await revoke(other, service.development, { token_type_hint: 'refresh_token' })).status).toBe(200);
    expectRejected(await me(other));
  });

  it('revokes an MCP token immediately', async () => {
    const token = await mcpToken();
    expect((await revoke(token, service.development, { token_type_hint: 'access_token' })).body).toEqual({});
    expect((await introspect(token)).body).toEqual({ active: false });
  });

  it('finds a token that has expired by the clock of one process, and not by that of another', async () => {
    const [access, mcp] = [await accessToken(service, user), await mcpToken()];
    {
      using _clock = moveClock(service, 8 * DAY);
      for (const token of [access, mcp]) expect((await revoke(token)).status).toBe(200);
    }
    expectRejected(await me(access));
    expect((await introspect(mcp)).body).toEqual({ active: false });
  });

  it('silently ignores tokens of another client', async () => {
    const [access, mcp] = [await accessToken(service, user), await mcpToken()];
    for (const token of [access, mcp, 'nonsense']) {
      const { status, body } = await revoke(token, service.production);
      expect([status, body]).toEqual([200, {}]);
    }
    expect((await me(access)).status).toBe(200);
    expect((await introspect(mcp)).body['active']).toBe(true);
  });

  it('rejects unknown clients and malformed requests', async () => {
    const unknown = await revoke('x', { ...service.development, clientId: randomUUID() });
    expect([unknown.status, unknown.body['error']]).toEqual([401, 'invalid_client']);
    const { clientId } = service.development;
    for (const fields of [{ client_id: clientId }, { token: 'x' }] as Fields[]) {
      const { status, body } = await sendForm(service, '/oauth/revoke', fields);
      expect([status, body['error']]).toEqual([400, 'invalid_request']);
    }
  });

  it('is deleted one day after the token would have expired', async () => {
    const token = await accessToken(service, user);
    await revoke(token);
    const cleaning = service.app.get(ExpiryJob);
    const count = async () => (await service.database.query('SELECT 1 FROM revoked_access_token')).length;
    expect(await count()).toBeGreaterThan(0);
    {
      using _clock = moveClock(service, DAY);
      await cleaning.run();
    }
    expect(await count()).toBeGreaterThan(0);
    {
      using _clock = moveClock(service, DAY + 16 * MINUTE);
      await cleaning.run();
    }
    expect(await count()).toBe(0);
  });
});

describe("A user's device access", () => {
  const change = async (id: string, action: string, fields: Record<string, string> = {}): Promise<void> => {
    const { status } = await submitForm(service, owner, `/dashboard/users/${id}/${action}`, fields);
    expect(status).toBe(303);
  };

  async function resetPassword({ email }: Login): Promise<void> {
    const visitor = new Visitor(service);
    await visitor.fill('/password-reset', { email });
    const token = tokenIn(await mailTo(service, email, 'Set a new password'));
    await visitor.get(`/password-reset/confirm?token=${token}`);
    const fields = { token, new_password: NEW_PASSWORD };
    expect((await visitor.submit('/password-reset/confirm', fields)).location).toBe('/password-reset/done');
  }

  async function changePassword({ email, password }: Login): Promise<void> {
    const visitor = new Visitor(service);
    await visitor.logIn(email, password);
    const fields = { current_password: password, new_password: NEW_PASSWORD };
    expect((await visitor.fill('/account/password', fields)).location).toBe('/account/password/changed');
  }

  async function endOtherSessions({ email, password }: Login): Promise<void> {
    const visitor = new Visitor(service);
    await visitor.logIn(email, password);
    expect((await visitor.fill('/account', {}, '/account/sessions/end-others')).location).toBe('/account');
  }

  const owner = useLogin(service, 'owner');

  it.each<[string, (login: Login) => Promise<unknown>]>([
    ['a password reset', resetPassword],
    ['a password change', changePassword],
    ['ending all other sessions', endOtherSessions],
    ['a role change', ({ userId }) => change(userId, 'change', { role: 'member' })],
    [
      'being disabled, even if enabled again',
      async ({ userId }) => {
        await change(userId, 'disable');
        await change(userId, 'enable');
      },
    ],
    ['removal', ({ userId }) => change(userId, 'remove')],
  ])('ends with %s, for tokens and for approvals', async (_what, end) => {
    const login = await service.login('admin');
    const token = await accessToken(service, login);
    const approved = await startFlow(service);
    await decide(service, login, approved.user_code);
    expect((await me(token)).status).toBe(200);

    await end(login);
    expectRejected(await me(token));
    const { body } = await poll(service, approved);
    expect(body['error']).toBe('access_denied');
    // The user has not declined.
    expect(body['error_description']).toBe(
      'The access of the user who approved the request has ended. Request a new code.',
    );
  });

  it.each(['admin', 'owner'] as const)('ends with a temporary role, which it would get: %s', async (role) => {
    const login = await service.login('member');
    const token = await accessToken(service, login);
    const approved = await startFlow(service);
    await decide(service, login, approved.user_code);
    await grantRole(service, owner, login, role);
    expectRejected(await me(token));
    expect((await poll(service, approved)).body['error']).toBe('access_denied');
    expect((await me(await accessToken(service, login))).body['role']).toBe(role);
  });

  it('can be granted again afterwards', async () => {
    const login = await service.login('admin');
    await accessToken(service, login);
    await change(login.userId, 'change', { role: 'member' });
    const token = await accessToken(service, login);
    expect((await me(token)).body['role']).toBe('member');
    const { clientId } = service.development;
    const fields = { token, client_id: clientId };
    expect((await sendForm(service, '/oauth/revoke', fields)).status).toBe(200);
  });
});

it('A denied attempt with an access token is recorded with its target and environment', async () => {
  const login = await service.login('member');
  const token = await accessToken(service, login, service.development, 'request_logs:read');
  const id = randomUUID();
  const denied = await service.request(`/webhook-endpoints/${id}`, { method: 'DELETE', token });
  expect(denied.status).toBe(403);
  const rows = await service.database.query("SELECT * FROM audit_log WHERE outcome = 'denied'");
  expect(rows).toContainEqual(
    expect.objectContaining({
      action: 'webhook.delete',
      actor_email: login.email,
      target_name: id,
      target_environment: 'development',
    }),
  );
});

describe('Signing keys', () => {
  const kids = async (): Promise<string[]> => {
    const { status, headers, body } = await service.request<{ keys: { kid: string }[] }>(
      '/.well-known/jwks.json',
    );
    expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=300']);
    return body.keys.map(({ kid }) => kid);
  };
  const rotation = () => service.app.get(TokenSigningKeysJob, { strict: false });
  const keys = () => service.app.get(TokenSigningKeysService, { strict: false });
  /** Stops the clock, so that the test does not depend on the speed of the machine. */
  let base = 0;
  beforeEach(() => {
    base = Date.now();
  });
  const at = async <T>(milliseconds: number, work: () => Promise<T>): Promise<T> => {
    using _clock = stopClock(service, new Date(base + milliseconds));
    return await work();
  };
  const tokenAt = (milliseconds: number): Promise<string> =>
    at(milliseconds, async () => accessToken(service, await service.login('member')));

  it('are published before their first use and until their last token has expired', async () => {
    const [old = ''] = await kids();
    const { kid: next } = await at(0, () => keys().rotate());
    expect(await kids()).toEqual([next, old]);
    await expect(at(0, () => keys().rotate())).rejects.toThrow(
      /A new key is already published and starts signing at /,
    );

    for (const minutes of [0, 5, 9]) {
      expect(decodeProtectedHeader(await tokenAt(minutes * MINUTE)).kid).toBe(old);
    }
    const last = await tokenAt(10 * MINUTE - SECOND);
    const first = await tokenAt(10 * MINUTE);
    expect([last, first].map((token) => decodeProtectedHeader(token).kid)).toEqual([old, next]);

    for (const minutes of [11, 20, 24]) {
      await at(minutes * MINUTE, async () => {
        expect(await kids()).toEqual([next, old]);
        for (const token of [last, first]) expect((await me(token)).status).toBe(200);
      });
    }
    await at(10 * MINUTE + 900 * SECOND + 120 * SECOND, async () =>
      expect(await kids()).toEqual([next, old]),
    );
    await at(10 * MINUTE + 900 * SECOND + 121 * SECOND, async () => expect(await kids()).toEqual([next]));
    const states = async () => (await keys().describe()).map(({ kid, state }) => [kid, state]);
    expect(await states()).toEqual([[next, 'next'], [old, 'signing']]); // prettier-ignore
    await at(15 * MINUTE, async () =>
      expect(await states()).toEqual([[next, 'signing'], [old, 'verifying']])); // prettier-ignore
    await at(60 * MINUTE, async () => {
      await rotation().run();
      expect(await states()).toEqual([[next, 'signing'], [old, 'obsolete']]); // prettier-ignore
    });
    await at(2 * DAY, async () => {
      await rotation().run();
      expect(await states()).toEqual([[next, 'signing']]);
    });
  });

  it('are loaded once for many tokens with unknown keys', async () => {
    const published = import.meta.jest.spyOn(keys(), 'published');
    const keyring = service.app.get(TokenKeyring, { strict: false });
    using _clock = moveClock(service, 6 * SECOND);
    await Promise.all(Array.from({ length: 20 }, () => keyring.verifier(randomUUID())));
    expect(published).toHaveBeenCalledTimes(1);
    published.mockRestore();
  });

  it('are rotated once after 30 days', async () => {
    const [old] = await kids();
    await at(29 * DAY, async () => {
      await rotation().run();
      expect(await kids()).toEqual([old]);
    });
    await at(31 * DAY, async () => {
      await Promise.all(Array.from({ length: 5 }, () => rotation().run()));
      await rotation().run();
      expect(await kids()).toHaveLength(2);
    });
    await service.database.query('DELETE FROM token_signing_key WHERE kid <> $1', [old]);
  });

  it('are rotated although a process whose clock was a year ahead has published one', async () => {
    const [old] = await kids();
    await at(365 * DAY, () => keys().rotate());
    await at(29 * DAY, async () => {
      await rotation().run();
      expect(await kids()).toHaveLength(2);
    });
    await at(31 * DAY, async () => {
      await rotation().run();
      await rotation().run();
      expect(await kids()).toHaveLength(3);
    });
    await service.database.query('DELETE FROM token_signing_key WHERE kid <> $1', [old]);
  });

  it('are rotated although the only one is of a process whose clock was a year ahead', async () => {
    const [old] = await kids();
    await service.database.query(`UPDATE token_signing_key SET signs_from = now() + interval '1 year'`);
    await rotation().run();
    expect(await kids()).toHaveLength(2);
    // Verifiers may not know the new key yet.
    const signers = [await tokenAt(MINUTE), await tokenAt(11 * MINUTE)];
    expect(signers.map((token) => decodeProtectedHeader(token).kid)).toEqual([
      old,
      (await kids()).find((kid) => kid !== old),
    ]);
    await service.database.query('DELETE FROM token_signing_key WHERE kid <> $1', [old]);
    await service.database.query('UPDATE token_signing_key SET signs_from = created_at');
  });

  it('use a newly configured algorithm from the next key on', async () => {
    const configuration = service.app.get(OAuthConfiguration);
    const [old] = await kids();
    // Created an hour ago, so that the key signs now.
    await service.database.query(`UPDATE token_signing_key SET signs_from = now() - interval '1 hour'`);
    configuration.tokenAlgorithm = 'RS256';
    try {
      await rotation().run();
      const { body } = await service.request<{ keys: JWK[] }>('/.well-known/jwks.json');
      expect(body.keys).toEqual([
        expect.objectContaining({ kty: 'RSA', alg: 'RS256', use: 'sig', n: expect.any(String) }),
        expect.objectContaining({ kid: old, kty: 'EC', alg: 'ES256', use: 'sig', crv: 'P-256' }),
      ]);
      for (const key of body.keys)
        for (const secret of ['d', 'p', 'q']) expect(key).not.toHaveProperty(secret);
      const token = await tokenAt(11 * MINUTE);
      expect(decodeProtectedHeader(token).alg).toBe('RS256');
      await at(12 * MINUTE, async () => expect((await me(token)).status).toBe(200));
    } finally {
      configuration.tokenAlgorithm = 'ES256';
    }
  });

  it('are encrypted in the database', async () => {
    const rows = await service.database.query<{ private_sealed: Buffer; kid: string }>(
      'SELECT * FROM token_signing_key',
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const { private_sealed } of rows) expect(private_sealed.toString('latin1')).not.toMatch(/"kty"|"d"/);
    const [first = { kid: '' }, second = { kid: '' }] = rows;
    // An encrypted key that is copied to another row cannot be decrypted.
    await service.database.query(
      'UPDATE token_signing_key SET private_sealed = (SELECT private_sealed FROM token_signing_key WHERE kid = $2) WHERE kid = $1',
      [first.kid, second.kid],
    );
    const key = (await service.app.get(TokenSigningKeysService, { strict: false }).published()).find(
      ({ kid }) => kid === first.kid,
    );
    expect(() => service.app.get(TokenSigningKeysService, { strict: false }).open(key as never)).toThrow();
  });
});

describe('Failures', () => {
  const UNKNOWN_TOKEN = generateDatedSecret('mcp_dev_', new Date());
  const FAILING: readonly (readonly [string, string, (token: string, code: string) => Promise<TestResponse>])[] = [
    ['requestDeviceCode', 'device_authorization', () =>
      sendForm(service, '/oauth/device/code', { client_id: service.development.clientId })],
    ['exchangeDeviceCode', 'device_authorization', (_token, device_code) => poll(service, { device_code })],
    ['revokeToken', 'mcp_token', () => revoke(UNKNOWN_TOKEN)],
    ['introspectToken', 'mcp_token', () => introspect(UNKNOWN_TOKEN)],
    ['getJsonWebKeySet', 'token_signing_key', () => service.request('/.well-known/jwks.json')],
    ['getCurrentUser', 'revoked_access_token', (token) => me(token)],
  ]; // prettier-ignore
  let token: string;

  beforeAll(async () => {
    await service.database.query('DELETE FROM token_signing_key');
    using _clock = moveClock(service, 5 * MINUTE);
    token = await accessToken(service, await service.login('member'));
  });

  it.each(FAILING)(
    '%s returns 500 for an internal error and 503 without the database',
    async (operation, table, index) => {
      const isOAuth = operation !== 'getCurrentUser';
      const whileHidden = async (): Promise<TestResponse> => {
        await using _table = await service.database.hide(table);
        return await index(token, 'x');
      };
      const failed = await whileHidden();
      expect([failed.status, failed.body['error_code']]).toEqual([500, 'INTERNAL_ERROR']);
      await service.database.cutOff();
      const cut = await index(token, 'x');
      await service.database.reconnect();
      expect([cut.status, cut.body['error_code']]).toEqual([503, 'SERVICE_UNAVAILABLE']);
      expect(Number(cut.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      if (!isOAuth) return;
      expect([failed.body['error'], cut.body['error']]).toEqual(['server_error', 'temporarily_unavailable']);
      for (const { headers } of [failed, cut]) expect(headers.get('cache-control')).toBe('no-store');
    },
  );

  it('a code remains valid if its token could not be created', async () => {
    const login = await service.login('member');
    const flow = await startFlow(service);
    await decide(service, login, flow.user_code);
    {
      await using _table = await service.database.hide('access_grant');
      expect((await poll(service, flow)).status).toBe(500);
    }
    const { status, body } = await poll(service, flow);
    expect(status).toBe(200);
    rememberSecret(String(body['access_token']));
  });
});
