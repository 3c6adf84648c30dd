import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import pg from 'pg';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/infrastructure/time/index.js';
import { ExpiryJob } from '../../src/infrastructure/database/index.js';
import {
  LoginAgent,
  REDIRECT_URI,
  returned,
  SandboxLogin,
  sendForm,
  type OAuthResponse,
  type Tokens,
} from '../support/agent-logins.js';
import { agentOf, mcpToken, sendRpc, toolCall } from '../support/agents.js';
import { moveClock } from '../support/clock.js';
import { rememberSecret } from '../support/run-directory.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { BEHIND_PROXY, Visitor } from '../support/visitor.js';

let service: TestApp;
let agent: LoginAgent;

beforeAll(async () => {
  service = await startTestApp({ ...BEHIND_PROXY, OAUTH_REQUESTS_PER_MINUTE: '100000' });
  agent = await LoginAgent.register(service);
});
afterAll(() => service.close());

const INFO = { name: 'test', version: '1.0.0' };
const addressOf = (clientId: string): URL => new URL(`/mcp/${clientId}`, service.baseUrl);
const issuer = (): string => `${service.baseUrl}/connections/${service.development.clientId}`;

/** Calls a tool with a token. @returns the status of the response */
async function statusOf(token: string, path = `/mcp/${service.development.clientId}`): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await sendRpc(service, toolCall('get_connection_info'), headers, path)).status;
}

async function auditedActions(): Promise<string[]> {
  const rows = await service.database.query<{ action: string }>(
    "SELECT action FROM audit_log WHERE action LIKE 'agent.%' ORDER BY sequence DESC LIMIT 5",
  );
  return rows.map(({ action }) => action);
}

/** Returns how many decisions of users the audit log contains. */
async function decisions(): Promise<number> {
  const [row] = await service.database.query<{ count: number }>(
    "SELECT count(*)::integer AS count FROM audit_log WHERE action IN ('agent.approve', 'agent.decline')",
  );
  return row?.count ?? 0;
}

/** More than the connections of a process. */
const CONCURRENT = 20;

/** Holds the lock of a row of the user while requests need it, and the requests of others must get responses. */
async function whileLocked(
  statement: string,
  user: string,
  send: () => Promise<OAuthResponse<Tokens>>,
): Promise<OAuthResponse<Tokens>[]> {
  const connection = new pg.Client({ connectionString: service.database.url });
  await connection.connect();
  try {
    await connection.query('BEGIN');
    await connection.query(statement, [user]);
    // One after the other, so that they are not all in the same statement.
    const waiting: Promise<OAuthResponse<Tokens>>[] = [];
    for (let number = 0; number < CONCURRENT; number += 1) {
      waiting.push(send());
      await pause(5);
    }
    const { refresh_token: other } = await agent.connect(`beside ${user}`);
    expect((await agent.refresh(other)).status).toBe(200);
    expect(await Promise.race([...waiting, 'none'])).toBe('none');
    await connection.query('COMMIT');
    return await Promise.all(waiting);
  } finally {
    await connection.end();
  }
}

describe('Unmodified clients log in', () => {
  it('with client 2.x and dynamic registration', async () => {
    const url = addressOf(service.development.clientId);
    const authProvider = new SandboxLogin(service, 'sdk-2');
    const first = new StreamableHTTPClientTransport(url, { authProvider });
    await expect(new Client(INFO).connect(first)).rejects.toThrow(UnauthorizedError);
    expect(authProvider.response?.get('iss')).toBe(issuer());
    await first.finishAuth(authProvider.response as URLSearchParams);
    const client = new Client(INFO, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new StreamableHTTPClientTransport(url, { authProvider }));
    const connected = agentOf(client, undefined);
    expect(await connected.result('get_connection_info')).toMatchObject({ environment: 'development' });
    await connected.close();
  });

  it('with client 1.x and dynamic registration', async () => {
    const url = addressOf(service.development.clientId);
    const authProvider = new SandboxLogin(service, 'sdk-1');
    const first = new OldTransport(url, { authProvider: authProvider as never });
    await expect(new OldClient(INFO).connect(first as never)).rejects.toThrow('Unauthorized');
    await first.finishAuth(authProvider.response?.get('code') ?? '');
    const client = new OldClient(INFO);
    await client.connect(new OldTransport(url, { authProvider: authProvider as never }) as never);
    const connected = agentOf(client as never, undefined);
    expect(await connected.result('list_merchant_accounts')).toEqual({ accounts: [], next_cursor: null });
    await connected.close();
  });

  it('with oauth4webapi, which checks every rule of the specifications', async () => {
    const insecure = { [oauth.allowInsecureRequests]: true };
    const url = new URL(issuer());
    const server = await oauth.processDiscoveryResponse(
      url,
      await oauth.discoveryRequest(url, { algorithm: 'oauth2', ...insecure }),
    );
    const client = { client_id: agent.id };
    const parameters = oauth.validateAuthResponse(
      server,
      client,
      await agent.authorize('strict'),
      'the state',
    );
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      oauth.None(),
      parameters,
      REDIRECT_URI,
      agent.verifier,
      insecure,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response);
    rememberSecret(tokens.access_token, tokens.refresh_token ?? '');
    const refreshed = await oauth.refreshTokenGrantRequest(
      server,
      client,
      oauth.None(),
      tokens.refresh_token ?? '',
      insecure,
    );
    const next = await oauth.processRefreshTokenResponse(server, client, refreshed);
    rememberSecret(next.access_token, next.refresh_token ?? '');
    const revoked = await oauth.revocationRequest(
      server,
      client,
      oauth.None(),
      next.refresh_token ?? '',
      insecure,
    );
    await oauth.processRevocationResponse(revoked);
    expect(await statusOf(next.access_token)).toBe(401);
    expect(await auditedActions()).toContain('agent.disconnect');
  });

  it('with openid-client, which builds the whole authorization request', async () => {
    const configuration = await openid.discovery(new URL(issuer()), agent.id, undefined, openid.None(), {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    });
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const expectedState = openid.randomState();
    const { searchParams } = openid.buildAuthorizationUrl(configuration, {
      redirect_uri: REDIRECT_URI,
      resource: addressOf(service.development.clientId).href,
      scope: 'accounts:read',
      state: expectedState,
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    });
    const parameters = await agent.authorize('openid-client', Object.fromEntries(searchParams));
    const tokens = await openid.authorizationCodeGrant(
      configuration,
      new URL(`${REDIRECT_URI}?${parameters}`),
      { pkceCodeVerifier, expectedState },
    );
    rememberSecret(tokens.access_token, tokens.refresh_token ?? '');
    expect(tokens.scope).toBe('accounts:read');
    const next = await openid.refreshTokenGrant(configuration, tokens.refresh_token ?? '');
    rememberSecret(next.access_token, next.refresh_token ?? '');
    expect(await statusOf(next.access_token)).toBe(200);
    await openid.tokenRevocation(configuration, next.refresh_token ?? '');
    expect(await statusOf(next.access_token)).toBe(401);
  });
});

describe('Metadata', () => {
  it('names the address, one issuer per API client, and its endpoints', async () => {
    const { clientId } = service.development;
    const resource = await service.request(`/.well-known/oauth-protected-resource/mcp/${clientId}`);
    expect(resource).toMatchObject({
      status: 200,
      body: { resource: addressOf(clientId).href, authorization_servers: [issuer()] },
    });
    const paths = [
      `/.well-known/oauth-authorization-server/connections/${clientId}`,
      `/.well-known/openid-configuration/connections/${clientId}`,
      `/connections/${clientId}/.well-known/openid-configuration`,
    ];
    for (const path of paths) {
      const { status, body } = await service.request(path);
      expect({ path, status, body }).toMatchObject({
        path,
        status: 200,
        body: {
          issuer: issuer(),
          code_challenge_methods_supported: ['S256'],
          authorization_response_iss_parameter_supported: true,
          client_id_metadata_document_supported: true,
        },
      });
    }
  });

  it('is not published for production until agents are allowed, nor for unknown clients', async () => {
    for (const id of [service.production.clientId, '19b11f7c-4c8e-49bf-853e-3cea2462349f', 'x']) {
      for (const path of [
        `/.well-known/oauth-protected-resource/mcp/${id}`,
        `/.well-known/oauth-authorization-server/connections/${id}`,
        `/.well-known/openid-configuration/connections/${id}`,
        `/connections/${id}/.well-known/openid-configuration`,
      ])
        expect((await service.request(path)).status).toBe(404);
      expect((await new Visitor(service).get(`/connections/${id}/authorize`)).status).toBe(404);
      const body = { redirect_uris: [REDIRECT_URI] };
      expect((await service.request(`/connections/${id}/register`, { body })).status).toBe(404);
      expect((await sendForm(service, `/connections/${id}/token`, {})).status).toBe(404);
      expect(
        (await sendForm(service, `/connections/${id}/revoke`, { token: 'x', client_id: 'y' })).status,
      ).toBe(404);
    }
  });

  it('of the device flow gets agents nowhere', async () => {
    const headers = { 'mcp-protocol-version': '2026-07-28' };
    for (const path of ['oauth-authorization-server', 'openid-configuration', 'oauth-protected-resource'])
      expect((await fetch(`${service.baseUrl}/.well-known/${path}`, { headers })).status).toBe(404);
  });
});

describe('POST /mcp/{client_id}', () => {
  const challengeOf = async (path: string, token?: string): Promise<string | null> => {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const { status, headers: received } = await sendRpc(
      service,
      toolCall('get_connection_info'),
      headers,
      path,
    );
    expect(status).toBe(401);
    return received.get('www-authenticate');
  };

  it('names its metadata in 401 responses, which POST /mcp does not', async () => {
    const { clientId } = service.development;
    const metadata = `${service.baseUrl}/.well-known/oauth-protected-resource/mcp/${clientId}`;
    expect(await challengeOf(`/mcp/${clientId}`)).toBe(
      `Bearer realm="Agent connector", resource_metadata="${metadata}", scope="accounts:read sign_in_links:write"`,
    );
    expect(await challengeOf(`/mcp/${clientId}`, 'wrong')).toContain(`resource_metadata="${metadata}"`);
    expect(await challengeOf(`/mcp/${clientId}`, 'wrong')).toContain('error="invalid_token"');
    expect(await challengeOf('/mcp')).not.toContain('resource_metadata');
    expect(await challengeOf(`/mcp/${service.production.clientId}`)).not.toContain('resource_metadata');
  });

  it('accepts tokens of operation 1 of its client only', async () => {
    const own = await mcpToken(service, 'user-1');
    const other = await mcpToken(service, 'user-1', { as: service.production });
    expect(await statusOf(own)).toBe(200);
    expect(await statusOf(other)).toBe(401);
    expect(await statusOf(other, `/mcp/${service.production.clientId}`)).toBe(200);
  });

  it('refuses its own tokens at every other address', async () => {
    const { access_token: token } = await agent.connect('audience');
    const other = await service.anotherOrganization();
    expect(await statusOf(token)).toBe(200);
    expect(await statusOf(token, '/mcp')).toBe(401);
    expect(await statusOf(token, `/mcp/${service.production.clientId}`)).toBe(401);
    expect(await statusOf(token, `/mcp/${other.development.clientId}`)).toBe(401);
  });

  it('asks for a missing scope with 403, and lists the tool', async () => {
    const { access_token: token, scope } = await agent.connect('scoped', { scope: 'accounts:read' });
    expect(scope).toBe('accounts:read');
    const headers = { authorization: `Bearer ${token}` };
    const path = `/mcp/${service.development.clientId}`;
    const refused = await sendRpc(service, toolCall('cancel_sign_in_link', { link_id: 'x' }), headers, path);
    expect(refused.status).toBe(403);
    expect(refused.headers.get('www-authenticate')).toBe(
      'Bearer realm="Agent connector", error="insufficient_scope", scope="accounts:read sign_in_links:write", ' +
        `resource_metadata="${service.baseUrl}/.well-known/oauth-protected-resource/mcp/${service.development.clientId}"`,
    );
    expect(await statusOf(token)).toBe(200);
  });
});

describe('The authorization endpoint', () => {
  it.each([
    ['another path', `${REDIRECT_URI}/other`],
    ['another case', 'https://agent.example.com/Callback'],
    ['another host in another case', 'https://AGENT.example.com/callback'],
    ['a trailing slash', `${REDIRECT_URI}/`],
    ['a port', 'https://agent.example.com:443/callback'],
    ['a query', `${REDIRECT_URI}?next=evil`],
    ['a fragment', `${REDIRECT_URI}#evil`],
    ['user information', 'https://agent.example.com@evil.example/callback'],
    ['another scheme', 'http://agent.example.com/callback'],
    ['a script', 'javascript:alert(1)'],
    ['nothing', ''],
  ])('does not redirect to an address with %s', async (_title, redirect) => {
    const page = await new Visitor(service).get(
      agent.authorizePath({ redirect_uri: redirect, response_type: 'x' }),
    );
    expect(page).toMatchObject({ status: 400, location: null });
    expect(page.text).toContain('has not registered the address');
  });

  it.each([
    ['unknown', '19b11f7c-4c8e-49bf-853e-3cea2462349f'],
    ['missing', null],
    ['no agent', 'http://agent.example.com/client.json'],
  ])('does not redirect if the agent is %s', async (_title, id) => {
    const page = await new Visitor(service).get(agent.authorizePath({ client_id: id }));
    expect(page).toMatchObject({ status: 400, location: null });
  });

  it('does not know agents of other API clients', async () => {
    const other = await service.anotherOrganization();
    const path = agent.authorizePath().replace(service.development.clientId, other.development.clientId);
    expect(await new Visitor(service).get(path)).toMatchObject({ status: 400, location: null });
  });

  it('lets only the port of a loopback address differ', async () => {
    const registered = await LoginAgent.register(service, {
      redirectUris: [
        'http://127.0.0.1/callback',
        'http://localhost:4711/callback?a=b',
        'http://[::1]/callback',
      ],
    });
    const statusWith = async (redirect: string): Promise<number> =>
      (await new Visitor(service).get(registered.authorizePath({ redirect_uri: redirect }))).status;
    for (const accepted of [
      'http://127.0.0.1/callback',
      'http://127.0.0.1:65000/callback',
      'http://localhost/callback?a=b',
      'http://localhost:1/callback?a=b',
      'http://[::1]:8080/callback',
    ])
      expect([accepted, await statusWith(accepted)]).toEqual([accepted, 303]);
    for (const refused of [
      'http://127.0.0.1:65000/Callback',
      'http://127.0.0.1:65000/callback/',
      'http://127.0.0.2:65000/callback',
      'http://127.0.0.1.evil.example:65000/callback',
      'http://127.0.0.1:80@evil.example/callback',
      'https://127.0.0.1:65000/callback',
      'http://localhost:1/callback',
      'http://localhost:1/callback?a=c',
    ])
      expect([refused, await statusWith(refused)]).toEqual([refused, 400]);
  });

  it.each([
    ['no response type', { response_type: null }, 'unsupported_response_type'],
    ['the implicit flow', { response_type: 'token' }, 'unsupported_response_type'],
    ['no PKCE', { code_challenge: null, code_challenge_method: null }, 'invalid_request'],
    ['PKCE without a method, which would be plain', { code_challenge_method: null }, 'invalid_request'],
    ['plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['a short challenge', { code_challenge: 'short' }, 'invalid_request'],
    ['an unknown scope', { scope: 'accounts:read admin' }, 'invalid_scope'],
    ['another resource', { resource: 'https://evil.example/mcp' }, 'invalid_target'],
    ['a long state', { state: 'x'.repeat(5_000) }, 'invalid_request'],
  ])('tells the agent about %s, with iss and state', async (_title, changes, error) => {
    const response = await new Visitor(service).get(
      agent.authorizePath(changes as Record<string, string | null>),
    );
    const parameters = returned(response);
    expect(parameters.get('error')).toBe(error);
    expect(parameters.get('iss')).toBe(issuer());
    expect(parameters.get('state')).toBe('state' in changes ? null : 'the state');
    expect(parameters.get('error_description')).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  });

  it('refuses repeated parameters', async () => {
    const response = await new Visitor(service).get(`${agent.authorizePath()}&scope=a&scope=b`);
    expect(returned(response).get('error')).toBe('invalid_request');
    const twice = await new Visitor(service).get(
      `${agent.authorizePath()}&redirect_uri=https://evil.example`,
    );
    expect(twice).toMatchObject({ status: 400, location: null });
  });

  it('accepts the resource that the metadata name', async () => {
    const resource = addressOf(service.development.clientId).href;
    const code = (await agent.authorize('resource', { resource })).get('code') ?? '';
    expect((await agent.redeem(code, { resource: 'https://evil.example/mcp' })).body).toMatchObject({
      error: 'invalid_target',
    });
    expect((await agent.redeem(code, { resource })).status).toBe(200);
  });
});

describe('The pages', () => {
  it('name the organization, the agent, its host and its scopes, and cannot be framed', async () => {
    const visitor = new Visitor(service);
    const page = await visitor.get(await agent.logIn(visitor, 'reader', { scope: 'accounts:read' }));
    for (const text of [
      'Test organization',
      'Test Agent',
      'agent.example.com',
      'See which merchants',
      'chose its name',
    ])
      expect(page.text).toContain(text);
    expect(page.text).not.toContain('by text message');
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    // The agent may redirect anywhere.
    expect(page.headers.get('content-security-policy')).not.toContain('form-action');
    expect(page.headers.get('x-frame-options')).toBe('DENY');
  });

  it('warn about loopback addresses', async () => {
    const loopback = await LoginAgent.register(service, { redirectUris: ['http://[::1]:1234/callback'] });
    const visitor = new Visitor(service);
    const page = await visitor.get(await loopback.logIn(visitor, 'reader'));
    expect(page.text).toContain('a program on this computer');
  });

  it('warn about the address of Cursor, to which they return', async () => {
    const uri = 'cursor://anysphere.cursor-mcp/oauth/callback';
    const cursor = await LoginAgent.register(service, { redirectUris: [uri] });
    const visitor = new Visitor(service);
    const page = await visitor.get(await cursor.logIn(visitor, 'reader'));
    expect(page.text).toContain('a program on this computer');
    expect(await cursor.connect('reader')).toHaveProperty('access_token');
  });

  it('escape what the agent chose, and drop invisible characters', async () => {
    const body = { client_name: '<script>\u202E x\n\n</script>', redirect_uris: [REDIRECT_URI] };
    const { body: registered } = await service.request<{ client_id: string; client_name: string }>(
      `${agent.issuerPath}/register`,
      { body },
    );
    expect(registered.client_name).toBe('<script> x </script>');
    const visitor = new Visitor(service);
    const page = await visitor.get(
      await LoginAgent.named(service, registered.client_id, REDIRECT_URI).logIn(visitor, 'reader'),
    );
    expect(page.text).not.toContain('<script>');
  });

  it('require the anti-forgery token of the browser', async () => {
    const visitor = new Visitor(service);
    const page = await agent.logIn(visitor, 'forged');
    await visitor.get(page);
    expect((await visitor.submit(page, { action: 'approve', form_token: 'forged' })).status).toBe(403);
    const crossSite = { 'sec-fetch-site': 'cross-site' };
    expect((await visitor.submit(page, { action: 'approve' }, crossSite)).status).toBe(403);
    returned(await visitor.submit(page, { action: 'approve' }));
  });

  it('cannot be continued in another browser', async () => {
    const visitor = new Visitor(service);
    const page = await agent.logIn(visitor, 'victim');
    const stranger = new Visitor(service);
    expect(await stranger.fill(page, { action: 'approve' })).toMatchObject({ status: 403 });
    await stranger.get(`${agent.issuerPath}/authorize`);
    expect((await stranger.get(page)).text).toContain('started in another browser');
    stranger.cookies.set('browser', 'forged');
    expect((await stranger.fill(page, { action: 'approve' })).status).toBe(403);
    returned(await visitor.fill(page, { action: 'approve' }));
  });

  it('accept one of 20 concurrent decisions, and lead everyone who made it to the agent', async () => {
    const visitor = new Visitor(service);
    const page = await agent.logIn(visitor, 'undecided');
    const before = await decisions();
    await visitor.get(page);
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        visitor.submit(page, { action: index % 2 === 0 ? 'approve' : 'decline' }),
      ),
    );
    const returns = responses.flatMap(({ location }) =>
      location?.startsWith(REDIRECT_URI) ? [location] : [],
    );
    expect([returns.length, new Set(returns).size]).toEqual([10, 1]);
    expect((await decisions()) - before).toBe(1);
  });

  it('lead to the agent again until it has redeemed the code, which stays the same', async () => {
    const visitor = new Visitor(service);
    const page = await agent.logIn(visitor, 'pressing twice');
    const before = await decisions();
    const { location } = await visitor.fill(page, { action: 'approve' });
    using _clock = moveClock(service, 2 * MINUTE);
    expect((await visitor.submit(page, { action: 'approve' })).location).toBe(location);
    expect((await visitor.get(page)).location).toBe(location);
    expect(await visitor.submit(page, { action: 'decline' })).toMatchObject({ status: 410, location: null });
    expect((await new Visitor(service).get(page)).status).toBe(403);
    const code = new URL(location ?? '').searchParams.get('code') ?? '';
    expect((await agent.redeem(code)).status).toBe(200);
    for (const again of [await visitor.get(page), await visitor.fill(page, { action: 'approve' })])
      expect(again.location ?? again.text).toEqual(
        again.status === 303 ? page : expect.stringContaining('is connected'),
      );
    expect((await decisions()) - before).toBe(1);
  });

  it('return access_denied, iss and state to the agent when the user declines, before or after the login', async () => {
    const visitor = new Visitor(service);
    const page = await agent.logIn(visitor, 'unwilling');
    for (const declined of [
      returned(await visitor.fill(page, { action: 'decline' })),
      returned(
        await visitor.fill((await visitor.get(agent.authorizePath())).location ?? '', { action: 'decline' }),
      ),
    ])
      expect(Object.fromEntries(declined)).toMatchObject({
        error: 'access_denied',
        state: 'the state',
        iss: issuer(),
      });
    expect((await visitor.get(page)).text).toContain('was declined');
    expect((await visitor.fill(page, { action: 'approve' })).location).toBe(page);
    expect((await auditedActions()).slice(0, 2)).toEqual(['agent.decline', 'agent.decline']);
  });

  it('expire after 10 minutes', async () => {
    const visitor = new Visitor(service);
    const page = await agent.logIn(visitor, 'late');
    await visitor.get(page);
    using _clock = moveClock(service, 10 * MINUTE + SECOND);
    expect((await visitor.submit(page, { action: 'approve' })).location).toBe(page);
    expect(await visitor.get(page)).toMatchObject({ status: 410 });
  });

  it('are unknown for other IDs', async () => {
    const visitor = new Visitor(service);
    for (const id of ['19b11f7c-4c8e-49bf-853e-3cea2462349f', 'x'])
      expect((await visitor.get(`${agent.issuerPath}/authorizations/${id}`)).status).toBe(410);
  });

  it('ask for a valid user in the sandbox', async () => {
    const visitor = new Visitor(service);
    const begun = await visitor.get(agent.authorizePath());
    for (const user of [' ', 'x'.repeat(257)]) {
      const again = await visitor.fill(begun.location ?? '', { action: 'log_in', external_user_id: user });
      expect(again.status).toBe(400);
    }
  });
});

describe('Codes', () => {
  it('are stored as hashes only, as are the tokens', async () => {
    const code = (await agent.authorize('hashed')).get('code') ?? '';
    const { body } = await agent.redeem(code);
    for (const table of ['agent_authorization', 'agent_refresh_token', 'agent_connection', 'mcp_token']) {
      const rows = await service.database.query(`SELECT row::text FROM ${table} AS row`);
      for (const secret of [code, body.access_token, body.refresh_token]) {
        expect(JSON.stringify(rows)).not.toContain(secret);
        expect(JSON.stringify(rows)).not.toContain(Buffer.from(secret).toString('hex'));
      }
    }
    expect(body).toMatchObject({ expires_in: 3600, scope: 'accounts:read sign_in_links:write' });
    expect(body.refresh_token).toMatch(/^mcr_dev_[\dA-Za-z]{49}$/);
  });

  it('expire after 60 seconds', async () => {
    const code = (await agent.authorize('slow')).get('code') ?? '';
    using _clock = moveClock(service, MINUTE + SECOND);
    expect(await agent.redeem(code)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  it('work once, and end what the first of 20 concurrent uses produced', async () => {
    const code = (await agent.authorize('raced')).get('code') ?? '';
    const responses = await Promise.all(Array.from({ length: 20 }, () => agent.redeem(code)));
    const [accepted, ...others] = responses.filter(({ status }) => status === 200);
    expect(others).toEqual([]);
    const { access_token: access = '', refresh_token: refresh = '' } = accepted?.body ?? {};
    expect(await statusOf(access)).toBe(401);
    expect(await agent.refresh(refresh)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(await auditedActions()).toContain('agent.reuse');
  });

  it('work once for requests that waited for the same lock', async () => {
    const code = (await agent.authorize('waiting')).get('code') ?? '';
    const statement = 'SELECT FROM agent_authorization WHERE external_user_id = $1 FOR UPDATE';
    const responses = await whileLocked(statement, 'waiting', () => agent.redeem(code));
    const statuses = responses.map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, ...Array<number>(CONCURRENT - 1).fill(400)]);
  });

  it.each([
    ['no verifier', { code_verifier: '' }],
    ['another verifier', { code_verifier: 'a'.repeat(43) }],
    ['a short verifier', { code_verifier: 'short' }],
    ['another redirect address', { redirect_uri: 'https://agent.example.com/other' }],
    ['an unknown agent', { client_id: '19b11f7c-4c8e-49bf-853e-3cea2462349f' }],
  ])('are not accepted with %s', async (_title, changes) => {
    const code = (await agent.authorize('careful')).get('code') ?? '';
    const { status, body } = await agent.redeem(code, changes);
    expect([400, 401]).toContain(status);
    expect(body).toMatchObject({ error: expect.stringMatching(/^invalid_(?:grant|request|client)$/) });
    expect((await agent.redeem(code)).status).toBe(200);
  });

  it('are not accepted with the challenge as a plain verifier', async () => {
    const code = (await agent.authorize('downgraded')).get('code') ?? '';
    const challenge = createHash('sha256').update(agent.verifier).digest('base64url');
    expect((await agent.redeem(code, { code_verifier: challenge })).body).toMatchObject({
      error: 'invalid_grant',
    });
  });

  it('are not accepted from another agent, or at another issuer', async () => {
    const code = (await agent.authorize('owner')).get('code') ?? '';
    const thief = await LoginAgent.register(service);
    expect((await agent.redeem(code, { client_id: thief.id })).body).toMatchObject({
      error: 'invalid_grant',
    });
    const other = await service.anotherOrganization();
    const elsewhere = await LoginAgent.register(service, { clientId: other.development.clientId });
    const form = {
      grant_type: 'authorization_code',
      client_id: elsewhere.id,
      code,
      redirect_uri: REDIRECT_URI,
      code_verifier: agent.verifier,
    };
    const stolen = await sendForm(service, `${elsewhere.issuerPath}/token`, form);
    expect(stolen.body).toMatchObject({ error: 'invalid_grant' });
    expect((await agent.redeem(code)).status).toBe(200);
  });
});

describe('The token endpoint', () => {
  const send = (parameters: Record<string, string>) =>
    sendForm(service, `${agent.issuerPath}/token`, parameters);

  it('returns the errors of OAuth', async () => {
    expect(await send({})).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    expect(await send({ grant_type: 'password', client_id: agent.id })).toMatchObject({
      status: 400,
      body: { error: 'unsupported_grant_type' },
    });
    const refresh_token = 'mcr_dev_4fJq0vN8sYw2Lb7RtXk1ZcE5hUaGm9Pd3oViKy6Wn00000000';
    expect(await send({ grant_type: 'refresh_token', client_id: agent.id, refresh_token })).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant', error_type: 'INVALID_REQUEST', error_code: 'INVALID_FIELD' },
    });
    expect((await fetch(`${service.baseUrl}${agent.issuerPath}/token`)).status).toBe(405);
  });
});

describe('Refresh tokens', () => {
  it('are rotated, and a request repeated within 30 seconds gets the same response', async () => {
    const first = await agent.connect('rotating');
    const second = (await agent.refresh(first.refresh_token)).body;
    expect(second.refresh_token).not.toBe(first.refresh_token);
    using _clock = moveClock(service, 20 * SECOND);
    const { body: again } = await agent.refresh(first.refresh_token);
    expect(again).toMatchObject({ access_token: second.access_token, refresh_token: second.refresh_token });
    expect(again.expires_in).toBeLessThanOrEqual(3580);
    expect(await statusOf(second.access_token)).toBe(200);
    expect((await agent.refresh(second.refresh_token)).status).toBe(200);
  });

  it('get one response for 20 concurrent requests', async () => {
    const { refresh_token: token } = await agent.connect('concurrent');
    const responses = await Promise.all(Array.from({ length: 20 }, () => agent.refresh(token)));
    expect(new Set(responses.map(({ body }) => `${body.access_token} ${body.refresh_token}`)).size).toBe(1);
    expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(200));
  });

  it('get one response for requests that waited for the same lock', async () => {
    const { refresh_token: token } = await agent.connect('locked');
    const statement = 'SELECT FROM agent_connection WHERE external_user_id = $1 FOR UPDATE';
    const responses = await whileLocked(statement, 'locked', () => agent.refresh(token));
    expect(responses.map(({ status }) => status)).toEqual(Array(CONCURRENT).fill(200));
    expect(new Set(responses.map(({ body }) => body.refresh_token)).size).toBe(1);
  });

  it('end the connection when they are used again later, which is audited', async () => {
    const first = await agent.connect('copied');
    const second = (await agent.refresh(first.refresh_token)).body;
    expect(await statusOf(second.access_token)).toBe(200);
    using _clock = moveClock(service, 31 * SECOND);
    const reused = await Promise.all(Array.from({ length: 20 }, () => agent.refresh(first.refresh_token)));
    expect(reused.map(({ body }) => (body as unknown as { error: string }).error)).toEqual(
      Array(20).fill('invalid_grant'),
    );
    for (const token of [first.access_token, second.access_token]) expect(await statusOf(token)).toBe(401);
    expect((await agent.refresh(second.refresh_token)).status).toBe(400);
    const actions = await auditedActions();
    expect([actions[0], actions.filter((action) => action === 'agent.reuse').length]).toEqual([
      'agent.reuse',
      expect.any(Number),
    ]);
    const [{ count } = { count: 0 }] = await service.database.query<{ count: number }>(
      "SELECT count(*)::int FROM agent_connection WHERE external_user_id = 'copied' AND ended_at IS NOT NULL",
    );
    expect(count).toBe(1);
  });

  it('give at most the scopes that the user has granted', async () => {
    const { refresh_token: token } = await agent.connect('escalating', { scope: 'accounts:read' });
    const escalated = await agent.refresh(token, { scope: 'accounts:read sign_in_links:write' });
    expect(escalated).toMatchObject({ status: 400, body: { error: 'invalid_scope' } });
    expect((await agent.refresh(token, { scope: 'admin' })).body).toMatchObject({ error: 'invalid_scope' });
    expect((await agent.refresh(token)).body).toMatchObject({ scope: 'accounts:read' });
    const both = await agent.connect('narrowing');
    const narrowed = (await agent.refresh(both.refresh_token, { scope: 'accounts:read' })).body;
    expect(narrowed.scope).toBe('accounts:read');
    expect((await agent.refresh(narrowed.refresh_token)).body.scope).toBe(
      'accounts:read sign_in_links:write',
    );
  });

  it('belong to their agent and issuer', async () => {
    const { refresh_token: token } = await agent.connect('owned');
    const thief = await LoginAgent.register(service);
    expect((await agent.refresh(token, { client_id: thief.id })).body).toMatchObject({
      error: 'invalid_grant',
    });
    const other = await service.anotherOrganization();
    const elsewhere = await LoginAgent.register(service, { clientId: other.development.clientId });
    expect((await elsewhere.refresh(token)).body).toMatchObject({ error: 'invalid_grant' });
    expect((await agent.refresh(token)).status).toBe(200);
  });

  it('expire 60 days after the last use', async () => {
    const { refresh_token: token } = await agent.connect('resting');
    let next: Tokens;
    {
      using _clock = moveClock(service, 59 * DAY);
      next = (await agent.refresh(token)).body;
    }
    {
      using _clock = moveClock(service, 118 * DAY);
      next = (await agent.refresh(next.refresh_token)).body;
    }
    using _clock = moveClock(service, 179 * DAY);
    expect((await agent.refresh(next.refresh_token)).body).toMatchObject({ error: 'invalid_grant' });
  });

  it('outlive access tokens, which expire after an hour', async () => {
    const { access_token: token } = await agent.connect('hourly');
    using _clock = moveClock(service, HOUR + SECOND);
    expect(await statusOf(token)).toBe(401);
  });
});

describe('Revocation', () => {
  it('revokes an access token alone, and ends the connection of a refresh token', async () => {
    const tokens = await agent.connect('revoking');
    const revoke = (token: string, client_id = agent.id) =>
      sendForm(service, `${agent.issuerPath}/revoke`, { token, client_id });
    const thief = await LoginAgent.register(service);
    expect(await revoke(tokens.refresh_token, thief.id)).toMatchObject({ status: 200, body: {} });
    expect(await revoke('unknown')).toMatchObject({ status: 200, body: {} });
    expect(await statusOf(tokens.access_token)).toBe(200);
    await revoke(tokens.access_token);
    expect(await statusOf(tokens.access_token)).toBe(401);
    const next = (await agent.refresh(tokens.refresh_token)).body;
    expect(await statusOf(next.access_token)).toBe(200);
    await revoke(next.refresh_token);
    expect(await statusOf(next.access_token)).toBe(401);
    expect((await agent.refresh(next.refresh_token)).status).toBe(400);
    const { status, body } = await sendForm(service, `${agent.issuerPath}/revoke`, { client_id: agent.id });
    expect([status, body['error']]).toEqual([400, 'invalid_request']);
  });
});

describe('Registration', () => {
  const register = (body: object) =>
    service.request<Record<string, unknown>>(`${agent.issuerPath}/register`, { body });

  it('registers public clients, whatever else they ask for', async () => {
    const body = {
      redirect_uris: [REDIRECT_URI],
      token_endpoint_auth_method: 'client_secret_basic',
      grant_types: ['implicit'],
      scope: 'everything',
      logo_uri: 'https://evil.example/logo.png',
    };
    const { status, body: registered } = await register(body);
    expect(status).toBe(201);
    expect(registered).toMatchObject({
      client_name: 'agent.example.com',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
    });
    expect(registered).not.toHaveProperty('client_secret');
  });

  it.each([
    [[]],
    [['http://agent.example.com/callback']],
    [['myapp://callback']],
    [['https://user@agent.example.com/callback']],
    [[`${REDIRECT_URI}#fragment`]],
    [[REDIRECT_URI, 'javascript:alert(1)']],
    [Array(11).fill(REDIRECT_URI)],
    [[`https://agent.example.com/${'x'.repeat(2_000)}`]],
    [[7]],
  ])('rejects redirect addresses like %j', async (redirectUris) => {
    const { status, body } = await register({ redirect_uris: redirectUris });
    expect(status).toBe(400);
    expect(body['error']).toMatch(/^invalid_(?:redirect_uri|request)$/);
  });

  it('is deleted after a day if no user has connected the agent', async () => {
    const unused = await LoginAgent.register(service);
    const used = await LoginAgent.register(service);
    const { refresh_token: token } = await used.connect('registered');
    using _clock = moveClock(service, DAY + MINUTE);
    await service.app.get(ExpiryJob).run();
    const page = await new Visitor(service).get(unused.authorizePath());
    expect(page.text).toContain('The agent is not known');
    expect((await unused.redeem('x')).body).toMatchObject({ error: 'invalid_client' });
    expect((await used.refresh(token)).status).toBe(200);
  });
});
