import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import pg from 'pg';
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/infrastructure/time/index.js';
import { ExpiryJob } from '../../../src/infrastructure/database/index.js';
import {
  LoginAgent,
  offered,
  REDIRECT_URI,
  returned,
  SandboxLogin,
  sendForm,
  type OAuthResponse,
  type Tokens,
} from '../../support/agents/agent-logins.js';
import { agentOf, mcpToken, sendRpc, toolCall } from '../../support/agents/agents.js';
import { moveClock } from '../../support/clock.js';
import { registerAgent, saveAgentSettings } from '../../support/pages/dashboard-forms.js';
import { serveMetrics } from '../../support/logs/metrics.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { useTestApp, type Login } from '../../support/test-app.js';
import { BEHIND_PROXY, Visitor, type PageResponse } from '../../support/pages/visitor.js';

const service = useTestApp({ ...BEHIND_PROXY, OAUTH_REQUESTS_PER_MINUTE: '100000', METRICS_PORT: '0' });
let agent: LoginAgent;
let owner: Login;

beforeAll(async () => {
  agent = await LoginAgent.register(service);
  owner = await service.login('owner');
});

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
    const metadata = await service.request(`/.well-known/oauth-authorization-server/connections/${clientId}`);
    expect(metadata).toMatchObject({
      status: 200,
      body: {
        issuer: issuer(),
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
        client_id_metadata_document_supported: true,
      },
    });
  });

  it('does not pretend to be OpenID Connect, whose clients refuse documents without ID tokens', async () => {
    const { clientId } = service.development;
    for (const path of [
      `/.well-known/openid-configuration/connections/${clientId}`,
      `/connections/${clientId}/.well-known/openid-configuration`,
    ])
      expect([path, (await service.request(path)).status]).toEqual([path, 404]);
  });

  it.each([
    ['in capitals', (id: string) => id.toUpperCase()],
    ['with a slash at its end', (id: string) => `${id}/`],
    ['with both', (id: string) => `${id.toUpperCase()}/`],
  ])('repeats the address as the agent wrote it, %s, and accepts its tokens there', async (_how, spelled) => {
    const id = spelled(service.development.clientId);
    const metadata = `${service.baseUrl}/.well-known/oauth-protected-resource/mcp/${id}`;
    const { headers } = await sendRpc(service, toolCall('get_connection_info'), {}, `/mcp/${id}`);
    expect(headers.get('www-authenticate')).toContain(`resource_metadata="${metadata}"`);
    const { body } = await service.request<{ resource: string; authorization_servers: string[] }>(
      metadata.slice(service.baseUrl.length),
    );
    expect(body).toMatchObject({ resource: addressOf(id).href, authorization_servers: [issuer()] });
    const tokens = await agent.connect('capitals', { resource: body.resource });
    expect((await agent.refresh(tokens.refresh_token, { resource: body.resource })).status).toBe(200);
    expect(await statusOf(tokens.access_token, `/mcp/${id}`)).toBe(200);
    const narrow = await agent.connect('capitals', { scope: 'accounts:read' });
    const refused = await sendRpc(
      service,
      toolCall('cancel_sign_in_link', { link_id: 'x' }),
      { authorization: `Bearer ${narrow.access_token}` },
      `/mcp/${id}`,
    );
    expect(refused.headers.get('www-authenticate')).toContain(`resource_metadata="${metadata}"`);
  });

  it('is not published for production until agents are allowed, nor for unknown clients', async () => {
    for (const id of [service.production.clientId, '19b11f7c-4c8e-49bf-853e-3cea2462349f', 'x']) {
      for (const path of [
        `/.well-known/oauth-protected-resource/mcp/${id}`,
        `/.well-known/oauth-authorization-server/connections/${id}`,
      ])
        expect((await service.request(path)).status).toBe(404);
      expect((await new Visitor(service).get(`/connections/${id}/authorize`)).status).toBe(404);
      const body = { redirect_uris: [REDIRECT_URI] };
      expect((await service.request(`/connections/${id}/register`, { body })).status).toBe(404);
      expect((await sendForm(service, `/connections/${id}/token`, {})).status).toBe(404);
      // Tokens can also be revoked when agents cannot log in any more.
      expect(
        (await sendForm(service, `/connections/${id}/revoke`, { token: 'x', client_id: 'y' })).status,
      ).toBe(id === service.production.clientId ? 200 : 404);
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

  it.each(['GET', 'HEAD', 'DELETE'])(
    'names its metadata to clients that probe the address with %s',
    async (method) => {
      const address = `${service.baseUrl}/mcp/${service.development.clientId}`;
      const { status, headers } = await fetch(address, { method, headers: { accept: 'text/event-stream' } });
      expect([status, headers.get('www-authenticate')]).toEqual([
        401,
        expect.stringContaining(`/.well-known/oauth-protected-resource/mcp/${service.development.clientId}"`),
      ]);
      const { access_token: token } = await agent.connect('probing');
      const known = await fetch(address, { method, headers: { authorization: `Bearer ${token}` } });
      expect([known.status, known.headers.get('allow')]).toEqual([405, 'POST']);
    },
  );

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
    ['no response type', { response_type: null }, 'invalid_request'],
    ['an empty response type', { response_type: '' }, 'invalid_request'],
    ['the implicit flow', { response_type: 'token' }, 'unsupported_response_type'],
    ['no PKCE', { code_challenge: null, code_challenge_method: null }, 'invalid_request'],
    ['PKCE without a method, which would be plain', { code_challenge_method: null }, 'invalid_request'],
    ['plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['a short challenge', { code_challenge: 'short' }, 'invalid_request'],
    ['another resource', { resource: 'https://evil.example/mcp' }, 'invalid_target'],
    ['a long state', { state: 'x'.repeat(5_000) }, 'invalid_request'],
    ['a state that is long when it is encoded', { state: '/'.repeat(1_200) }, 'invalid_request'],
    ['a state with U+0000', { state: 'a\0b' }, 'invalid_request'],
    ['a scope with U+0000', { scope: 'a\0b' }, 'invalid_request'],
  ])(
    'tells the agent about %s, with iss and state, by itself only at a listed host',
    async (_title, changes, error) => {
      const request = () =>
        new Visitor(service).get(agent.authorizePath(changes as Record<string, string | null>));
      const parameters = offered(await request());
      expect(parameters.get('error')).toBe(error);
      expect(parameters.get('iss')).toBe(issuer());
      expect(parameters.get('state')).toBe('state' in changes ? null : 'the state');
      expect(parameters.get('error_description')).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
      await saveAgentSettings(service, owner, { allowed_agents: 'any', allowed_hosts: 'agent.example.com' });
      const redirected = await request();
      await saveAgentSettings(service, owner, { allowed_agents: 'any' });
      expect(returned(redirected).toString()).toBe(parameters.toString());
    },
  );

  it('redirects an error of an agent that the organization has registered', async () => {
    const id = await registerAgent(service, owner, 'Corporate Agent', REDIRECT_URI);
    const registered = LoginAgent.named(service, id, REDIRECT_URI);
    const response = await new Visitor(service).get(registered.authorizePath({ response_type: 'token' }));
    expect(returned(response).get('error')).toBe('unsupported_response_type');
  });

  it.each(['https://evil.example/phishing', 'http://127.0.0.1:4711/cb', 'evil:/cb'])(
    'never redirects to %s before the user has decided',
    async (uri) => {
      const stranger = await LoginAgent.register(service, { redirectUris: [uri] });
      const visitor = new Visitor(service);
      const mistakes: Record<string, string | null>[] = [
        { response_type: 'x' },
        { code_challenge: null },
        { resource: 'https://x' },
      ];
      for (const changes of mistakes)
        expect(await visitor.get(stranger.authorizePath(changes))).toMatchObject({
          status: 400,
          location: null,
        });
      const begun = await visitor.get(stranger.authorizePath());
      expect(begun.location).toMatch(/^\/connections\//);
      expect((await visitor.get(begun.location ?? '')).location).toBeNull();
    },
  );

  it('refuses parameters with several values', async () => {
    for (const more of [
      '&scope=a&scope=b',
      '&state=other',
      '&response_type=token',
      '&code_challenge=other',
    ]) {
      const response = await new Visitor(service).get(`${agent.authorizePath()}${more}`);
      expect(offered(response).get('error')).toBe('invalid_request');
    }
    const twice = await new Visitor(service).get(
      `${agent.authorizePath()}&redirect_uri=https://evil.example`,
    );
    expect(twice).toMatchObject({ status: 400, location: null });
  });

  it('reads what follows a question mark that is not encoded, as in the queries of some clients', async () => {
    const path = agent.authorizePath({ state: '/return?x=1' }).replace('%3Fx', '?x');
    const visitor = new Visitor(service);
    const { location } = await visitor.get(`${path}&scope=accounts:read`);
    await visitor.fill(location ?? '', { action: 'log_in', external_user_id: 'question' });
    const parameters = returned(await visitor.fill(location ?? '', { action: 'approve' }));
    expect(parameters.get('state')).toBe('/return?x=1');
    const { body } = await agent.redeem(parameters.get('code') ?? '');
    expect(body.scope).toBe('accounts:read');
  });

  it.each([
    ['unknown parameters, also repeated ones', '&prompt=consent&nonce=a&nonce=b&claims=%7B%7D&x=%00'],
    ['parameters without a value', '&scope=&resource=&response_mode=&login_hint'],
    [
      'a value that is sent twice, or once more without a value',
      '&response_type=code&state=the+state&client_id=',
    ],
    ['a scope of other servers', '&scope=accounts:read+offline_access'],
    ['scopes that are separated by a comma', '&scope=accounts:read,offline_access'],
    ['scopes of other servers only', '&scope=openid+email+profile'],
    ['a scope in quotation marks', '&scope=%22accounts:read%22'],
  ])('accepts %s', async (_title, more) => {
    const visitor = new Visitor(service);
    const { location } = await visitor.get(`${agent.authorizePath()}${more}`);
    expect(location).toMatch(/\/authorizations\/[\da-f-]{36}$/);
    await visitor.fill(location ?? '', { action: 'log_in', external_user_id: 'lenient' });
    const parameters = returned(await visitor.fill(location ?? '', { action: 'approve' }));
    expect(parameters.get('state')).toBe('the state');
    const { body } = await agent.redeem(parameters.get('code') ?? '');
    const isReader = /accounts:read[+,]/.test(more);
    expect(body.scope).toBe(isReader ? 'accounts:read' : 'accounts:read sign_in_links:write');
  });

  it('knows the redirect address of an agent that has registered only one', async () => {
    const parameters = await agent.authorize('one address', { redirect_uri: null });
    expect((await agent.redeem(parameters.get('code') ?? '')).status).toBe(200);
    const two = await LoginAgent.register(service, { redirectUris: [REDIRECT_URI, `${REDIRECT_URI}/2`] });
    for (const redirect_uri of [null, ''])
      expect(await new Visitor(service).get(two.authorizePath({ redirect_uri }))).toMatchObject({
        status: 400,
        location: null,
      });
  });

  it.each([
    ['itself', (resource: string) => [resource]],
    ['itself twice', (resource: string) => [resource, resource]],
    ['a slash at the end', (resource: string) => [`${resource}/`]],
    ['a query', (resource: string) => [`${resource}?utm_source=plugin`]],
    [
      'other cases',
      (resource: string) => [resource.replace('http:', 'HTTP:'), resource.replace('/mcp/', '/MCP/')],
    ],
  ])('accepts the resource that the metadata name: %s', async (_title, variants) => {
    const resources = variants(addressOf(service.development.clientId).href);
    const query = resources.map((resource) => `&resource=${encodeURIComponent(resource)}`).join('');
    expect((await new Visitor(service).get(`${agent.authorizePath()}${query}`)).location).toContain(
      '/authorizations/',
    );
    const code = (await agent.authorize('resource')).get('code') ?? '';
    expect((await agent.redeem(code, { resource: 'https://evil.example/mcp' })).body).toMatchObject({
      error: 'invalid_target',
    });
    const fields: [string, string][] = [
      ['grant_type', 'authorization_code'],
      ['client_id', agent.id],
      ['code', code],
      ['code_verifier', agent.verifier],
      ...resources.map((resource): [string, string] => ['resource', resource]),
    ];
    const further: [string, string] = ['resource', addressOf(service.production.clientId).href];
    expect(await sendForm(service, `${agent.issuerPath}/token`, [...fields, further])).toMatchObject({
      status: 400,
      body: { error: 'invalid_target' },
    });
    expect((await sendForm(service, `${agent.issuerPath}/token`, fields)).status).toBe(200);
  });

  it('sends headers of less than 4 KiB, which fit into the buffer of a proxy', async () => {
    const longest = await LoginAgent.register(service, {
      redirectUris: [`${REDIRECT_URI}?${'x'.repeat(1_900)}`],
    });
    for (const sender of [agent, longest]) {
      let [accepted, refused] = [0, 4_096];
      const locationOf = async (state: number) =>
        (await new Visitor(service).get(sender.authorizePath({ state: 'ä'.repeat(state) }))).location ?? '';
      while (refused - accepted > 1) {
        const state = Math.floor((accepted + refused) / 2);
        if ((await locationOf(state)).includes('/authorizations/')) accepted = state;
        else refused = state;
      }
      const visitor = new Visitor(service);
      const page = await sender.logIn(visitor, 'long', { state: 'ä'.repeat(accepted) });
      const responses = [
        await visitor.get(page),
        await visitor.fill(page, { action: 'approve' }),
        await visitor.get(sender.authorizePath({ state: 'ä'.repeat(refused) })),
      ];
      expect(accepted).toBeGreaterThan(50);
      for (const { headers } of responses)
        expect([...headers].map((header) => header.join(': ')).join('\r\n').length).toBeLessThan(4_000);
    }
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

  it.each(['cursor://claude.ai/cb', 'vscode://ms.mcp/callback', 'com.example.app:/callback'])(
    'show the private-use scheme of %s, and no host that an app can invent',
    async (uri) => {
      const scheme = uri.replace(/:.*/, ':');
      const app = await LoginAgent.register(service, { redirectUris: [uri] });
      const visitor = new Visitor(service);
      const page = await visitor.get(await app.logIn(visitor, scheme));
      expect(page.text).toContain('a program on this computer');
      expect(page.text).toContain('an app on this device');
      expect(page.text).toContain(`<strong>${scheme}</strong>`);
      expect(page.text).not.toContain('claude.ai');
      expect(await app.connect(scheme)).toHaveProperty('access_token');
      const [connection] = await service.database.query<{ agent_host: string }>(
        'SELECT agent_host FROM agent_connection WHERE external_user_id = $1',
        [scheme],
      );
      expect(connection?.agent_host).toBe(scheme);
      const other = app.authorizePath({ redirect_uri: 'cursor://claude.ai/other' });
      expect((await new Visitor(service).get(other)).text).not.toContain('claude.ai');
    },
  );

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

  it('let the window that opened them find them again, whatever the response is', async () => {
    const visitor = new Visitor(service);
    const refused = new Visitor(service);
    const begun = await visitor.get(agent.authorizePath());
    const page = begun.location ?? '';
    const responses: [what: string, status: number, response: Promise<PageResponse> | PageResponse][] = [
      ['begun', 303, begun],
      ['login', 200, await visitor.get(page)],
      ['wrong code', 400, await visitor.submit(page, { action: 'enter_code', code: 'BCDF-GHJK' })],
      ['no user', 400, await visitor.submit(page, { action: 'log_in', external_user_id: ' ' })],
      ['form of another page', 403, await visitor.submit(page, { action: 'approve', form_token: 'x' })],
      ['no cookies', 403, await visitor.copy().submit(page, { action: 'approve' }, { cookie: '' })],
      ['long form', 413, await visitor.submit(page, { action: 'x'.repeat(100_000) })],
      ['logged in', 303, await visitor.submit(page, { action: 'log_in', external_user_id: 'opened' })],
      ['consent', 200, await visitor.get(page)],
      ['approved', 303, await visitor.submit(page, { action: 'approve' })],
      ['approved before', 410, await visitor.submit(page, { action: 'decline' })],
      ['other browser', 403, await refused.get(page)],
      ['unknown request', 410, await refused.get(`${agent.issuerPath}/authorizations/x`)],
      ['unknown agent', 400, await refused.get(agent.authorizePath({ client_id: 'unknown' }))],
      ['unknown address', 400, await refused.get(agent.authorizePath({ redirect_uri: 'https://a.example' }))],
      ['wrong request', 400, await refused.get(agent.authorizePath({ code_challenge: null }))],
      ['unknown issuer', 404, await refused.get('/connections/x/authorize')],
    ];
    const found = await Promise.all(
      responses.map(async ([what, , response]) => {
        const { status, headers } = await response;
        return [what, status, headers.get('cross-origin-opener-policy')];
      }),
    );
    expect(found).toEqual(responses.map(([what, status]) => [what, status, 'unsafe-none']));
  });

  it('say that browsers keep no cookies over http, and not that another browser began', async () => {
    const headers = { host: 'connector.example.com:3000' };
    const visitor = new Visitor(service);
    const { location } = await visitor.get(agent.authorizePath(), headers);
    const withoutCookies = { ...headers, cookie: '' };
    const overHttp = await visitor.get(location ?? '', withoutCookies);
    expect([overHttp.status, overHttp.text]).toEqual([403, expect.stringContaining('with an http address')]);
    expect(overHttp.text).not.toContain('another browser');
    for (const [name, value] of [
      ['x-forwarded-proto', 'https'],
      ['sec-fetch-site', 'none'],
      ['host', 'localhost'],
    ] as const) {
      const { text } = await visitor.get(location ?? '', { ...withoutCookies, [name]: value });
      expect(text).toContain('another browser');
    }
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
    const declines = () => service.database.query("SELECT FROM audit_log WHERE action = 'agent.decline'");
    const before = await declines();
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
    // Nobody knows who declined the second request.
    expect(await declines()).toHaveLength(before.length + 1);
  });

  it('leave neither an audit log entry nor much data of strangers', async () => {
    const before = await service.database.query('SELECT max(sequence) FROM audit_log');
    const visitor = new Visitor(service);
    const state = 'x'.repeat(2_000);
    for (let number = 0; number < 30; number += 1) {
      const { location } = await visitor.get(agent.authorizePath({ state }));
      if (number % 2 === 0) await visitor.fill(location ?? '', { action: 'decline' });
    }
    expect(await service.database.query('SELECT max(sequence) FROM audit_log')).toEqual(before);
    const [{ bytes } = { bytes: 0 }] = await service.database.query<{ bytes: number }>(
      'SELECT max(pg_column_size(row.*)) AS bytes FROM agent_authorization AS row',
    );
    expect(bytes).toBeLessThan(5_000);
    const metrics = await serveMetrics(service);
    expect(
      await metrics.value('mcs_agent_authorizations_total', { outcome: 'declined' }),
    ).toBeGreaterThanOrEqual(15);
    using _clock = moveClock(service, 10 * MINUTE + SECOND);
    await service.app.get(ExpiryJob).run();
    expect(
      await service.database.query("SELECT FROM agent_authorization WHERE status <> 'redeemed'"),
    ).toEqual([]);
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
      // What the browser wanted is unknown, too.
      expect(await visitor.get(`${agent.issuerPath}/authorizations/${id}`)).toMatchObject({
        status: 410,
        text: expect.stringContaining('Start again where you began.'),
      });
  });

  it('ask for a valid user in the sandbox', async () => {
    const visitor = new Visitor(service);
    const begun = await visitor.get(agent.authorizePath());
    for (const user of [' ', 'x'.repeat(257)]) {
      const again = await visitor.fill(begun.location ?? '', { action: 'log_in', external_user_id: user });
      expect(again.status).toBe(400);
    }
  });

  it('take a phone number in the sandbox, with which the agent can create sign-in links', async () => {
    const visitor = new Visitor(service);
    const page = (await visitor.get(agent.authorizePath())).location ?? '';
    const login = { action: 'log_in', external_user_id: 'with a phone' };
    for (const phone_number of ['12125550123', '+491701234567', '+1212555']) {
      const again = await visitor.fill(page, { ...login, phone_number });
      expect([again.status, again.text.includes('Enter a number of the US or Canada')]).toEqual([400, true]);
    }
    await visitor.fill(page, { ...login, phone_number: '+1 (212) 555-0123' });
    const code = returned(await visitor.fill(page, { action: 'approve' })).get('code') ?? '';
    const { body } = await agent.redeem(code);
    const { message: called } = await sendRpc(
      service,
      toolCall('create_sign_in_link', { merchant_id: 16 }),
      { authorization: `Bearer ${body.access_token}` },
      `/mcp/${service.development.clientId}`,
    );
    expect(called).toMatchObject({
      result: { structuredContent: { phone_number: '+1 *** *** 0123', status: 'pending' } },
    });
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

  it('create one connection for 20 concurrent uses, which get the same response', async () => {
    const code = (await agent.authorize('raced')).get('code') ?? '';
    const responses = await Promise.all(Array.from({ length: 20 }, () => agent.redeem(code)));
    expect(new Set(responses.map(({ body }) => `${body.access_token} ${body.refresh_token}`)).size).toBe(1);
    expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(await statusOf(responses[0]?.body.access_token ?? '')).toBe(200);
  });

  it('create one connection for requests that waited for the same lock', async () => {
    const code = (await agent.authorize('waiting')).get('code') ?? '';
    const statement = 'SELECT FROM agent_authorization WHERE external_user_id = $1 FOR UPDATE';
    const responses = await whileLocked(statement, 'waiting', () => agent.redeem(code));
    expect(new Set(responses.map(({ body }) => body.refresh_token)).size).toBe(1);
  });

  it('end the connection if the agent shows them again after the tokens were used, but only with the verifier', async () => {
    const code = (await agent.authorize('replayed')).get('code') ?? '';
    const { access_token: access, refresh_token: refresh } = (await agent.redeem(code)).body;
    expect(await statusOf(access)).toBe(200);
    {
      using _clock = moveClock(service, 31 * SECOND);
      const others: Record<string, string>[] = [
        { code_verifier: '' },
        { code_verifier: 'a'.repeat(43) },
        { redirect_uri: 'https://x.example/' },
      ];
      for (const changes of others) expect((await agent.redeem(code, changes)).status).toBe(400);
      expect(await statusOf(access)).toBe(200);
      expect((await agent.redeem(code)).body).toMatchObject({ error: 'invalid_grant' });
    }
    expect(await statusOf(access)).toBe(401);
    expect(await agent.refresh(refresh)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(await auditedActions()).toContain('agent.reuse');
  });

  it('get the same response for an hour, and end the connection if they are shown again later', async () => {
    const code = (await agent.authorize('kept')).get('code') ?? '';
    const { body } = await agent.redeem(code);
    {
      using _clock = moveClock(service, 59 * MINUTE);
      await service.app.get(ExpiryJob).run();
      await new Visitor(service).get(agent.authorizePath());
      expect((await agent.redeem(code)).body.refresh_token).toBe(body.refresh_token);
    }
    using _clock = moveClock(service, 59 * DAY);
    await service.app.get(ExpiryJob).run();
    expect((await agent.redeem(code, { code_verifier: 'a'.repeat(43) })).status).toBe(400);
    expect((await agent.redeem(code)).body).toMatchObject({ error: 'invalid_grant' });
    expect(await agent.refresh(body.refresh_token)).toMatchObject({ status: 400 });
    expect((await auditedActions())[0]).toBe('agent.reuse');
  });

  it('end the connection if they are shown again when the tokens that they gave are deleted', async () => {
    const code = (await agent.authorize('forgotten soon')).get('code') ?? '';
    let { refresh_token: token } = (await agent.redeem(code)).body;
    for (let minute = 2; minute <= 8; minute += 2) {
      using _clock = moveClock(service, minute * MINUTE);
      token = (await agent.refresh(token)).body.refresh_token;
    }
    using _clock = moveClock(service, 9 * MINUTE);
    expect((await agent.redeem(code)).body).toMatchObject({ error: 'invalid_grant' });
    expect((await agent.refresh(token)).status).toBe(400);
  });

  it('leave nothing of the request but what detects a second use', async () => {
    const code = (await agent.authorize('sparing')).get('code') ?? '';
    expect((await agent.redeem(code)).status).toBe(200);
    const [row] = await service.database.query(
      "SELECT state, phone_number_sealed FROM agent_authorization WHERE external_user_id = 'sparing'",
    );
    expect(row).toEqual({ state: null, phone_number_sealed: null });
  });

  it('need no redirect address at the token endpoint, because PKCE protects them', async () => {
    const code = (await agent.authorize('OAuth 2.1')).get('code') ?? '';
    expect((await agent.redeem(code, { redirect_uri: '' })).status).toBe(200);
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

  it.each([
    [
      'unknown parameters, also repeated ones',
      [
        ['nonce', 'a'],
        ['nonce', 'b'],
        ['client_secret', ''],
      ],
      200,
    ],
    ['a value that is sent twice', [['grant_type', 'refresh_token']], 200],
    ['no resource', [['resource', '']], 200],
    ['two grant types', [['grant_type', 'authorization_code']], 400],
    ['two clients', [['client_id', 'https://agent.example.com/other.json']], 400],
  ] as const)('answers a request with %s', async (_title, more, expected) => {
    const { refresh_token } = await agent.connect('parameters');
    const form: [string, string][] = [
      ['grant_type', 'refresh_token'],
      ['client_id', agent.id],
      ['refresh_token', refresh_token],
    ];
    const { status, body } = await sendForm(service, `${agent.issuerPath}/token`, [
      ...form,
      ...more.map(([name, value]): [string, string] => [name, value]),
    ]);
    expect([status, (body as { error?: string }).error]).toEqual([
      expected,
      expected === 200 ? undefined : 'invalid_request',
    ]);
  });

  it('ignores secrets and other credentials of agents, and takes a missing client ID from Basic credentials', async () => {
    const { refresh_token } = await agent.connect('basic');
    const statusWith = async (credentials: string, client_id: string, scheme = 'Basic', more = {}) => {
      const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token, client_id, ...more });
      const authorization = `${scheme} ${Buffer.from(credentials).toString('base64')}`;
      const url = `${service.baseUrl}${agent.issuerPath}/token`;
      const response = await fetch(url, { method: 'POST', body, headers: { authorization } });
      const { access_token: access, refresh_token: refresh } = (await response.json()) as Partial<Tokens>;
      rememberSecret(...[access, refresh].filter((token) => token !== undefined));
      return response.status;
    };
    for (const credentials of [
      `${agent.id}:`,
      `${agent.id}:secret`,
      `${agent.id}:a:b%`,
      'x',
      'other:secret',
      '',
    ])
      expect([credentials, await statusWith(credentials, agent.id)]).toEqual([credentials, 200]);
    expect(await statusWith('x', agent.id, 'Bearer')).toBe(200);
    expect(await statusWith('x', agent.id, 'Basic', { client_secret: 'secret' })).toBe(200);
    for (const secret of ['', 'secret', 'a:b'])
      expect([secret, await statusWith(`${agent.id}:${secret}`, '')]).toEqual([secret, 200]);
    expect(await statusWith(`${agent.id}:`, 'other')).toBe(400);
    for (const credentials of [agent.id, ':secret', ''])
      expect([credentials, await statusWith(credentials, '')]).toEqual([credentials, 400]);
  });
});

describe('Refresh tokens', () => {
  it('are rotated, and a request whose response was lost gets the same response until the tokens are used', async () => {
    const first = await agent.connect('rotating');
    const second = (await agent.refresh(first.refresh_token)).body;
    expect(second.refresh_token).not.toBe(first.refresh_token);
    const again = async (milliseconds: number, token = first.refresh_token) => {
      using _clock = moveClock(service, milliseconds);
      return await agent.refresh(token);
    };
    const { body } = await again(59 * MINUTE);
    expect(body).toMatchObject({ access_token: second.access_token, refresh_token: second.refresh_token });
    expect(body.expires_in).toBeLessThanOrEqual(60);
    expect(await statusOf(second.access_token)).toBe(200);
    expect((await again(29 * SECOND)).body.refresh_token).toBe(second.refresh_token);
    const third = (await agent.refresh(second.refresh_token)).body;
    expect((await again(59 * MINUTE, second.refresh_token)).body.refresh_token).toBe(third.refresh_token);
    expect((await again(31 * SECOND)).status).toBe(400);
    expect((await agent.refresh(third.refresh_token)).status).toBe(400);
  });

  it('end the connection if they are used again after an hour, although the next ones were not used', async () => {
    const first = await agent.connect('forgotten');
    const second = (await agent.refresh(first.refresh_token)).body;
    using _clock = moveClock(service, HOUR + SECOND);
    expect((await agent.refresh(first.refresh_token)).status).toBe(400);
    expect((await agent.refresh(second.refresh_token)).status).toBe(400);
  });

  it('are few rows however often they are rotated, and copies of deleted ones end the connection', async () => {
    const first = await agent.connect('busy');
    let { refresh_token: token } = first;
    for (let minute = 1; minute <= 10; minute += 1) {
      using _clock = moveClock(service, minute * MINUTE + SECOND);
      token = (await agent.refresh(token)).body.refresh_token;
    }
    const [{ count } = { count: 0 }] = await service.database.query<{ count: number }>(
      `SELECT count(*)::int FROM agent_refresh_token JOIN agent_connection ON id = connection_id
        WHERE external_user_id = 'busy'`,
    );
    expect(count).toBeLessThanOrEqual(4);
    await sendForm(service, `${agent.issuerPath}/revoke`, { token: first.access_token });
    expect(await statusOf(first.access_token)).toBe(401);
    const thief = await LoginAgent.register(service);
    expect((await thief.refresh(first.refresh_token)).status).toBe(400);
    using _clock = moveClock(service, 12 * MINUTE);
    token = (await agent.refresh(token)).body.refresh_token;
    expect((await agent.refresh(first.refresh_token)).body).toMatchObject({ error: 'invalid_grant' });
    expect((await agent.refresh(token)).body).toMatchObject({ error: 'invalid_grant' });
    expect(await auditedActions()).toContain('agent.reuse');
  });

  it('survive 200 rotations of a client that loses every third response', async () => {
    let sent = 0;
    /** Sends a request until its response arrives. */
    const reliably = async <Result>(send: () => Promise<Result>): Promise<Result> => {
      for (;;) {
        const result = await send();
        if ((sent += 1) % 3 !== 0) return result;
      }
    };
    const visitor = new Visitor(service);
    const { location } = await reliably(() => visitor.get(agent.authorizePath()));
    await reliably(() => visitor.fill(location ?? '', { action: 'log_in', external_user_id: 'unlucky' }));
    const parameters = returned(await reliably(() => visitor.fill(location ?? '', { action: 'approve' })));
    let tokens = (await reliably(() => agent.redeem(parameters.get('code') ?? ''))).body;
    for (let rotation = 0; rotation < 200; rotation += 1) {
      const { status, body } = await reliably(() => agent.refresh(tokens.refresh_token));
      expect({ rotation, status }).toEqual({ rotation, status: 200 });
      tokens = body;
    }
    expect(await reliably(() => statusOf(tokens.access_token))).toBe(200);
    const form = { token: tokens.refresh_token, client_id: agent.id };
    const revoked = await reliably(() => sendForm(service, `${agent.issuerPath}/revoke`, form));
    expect(revoked.status).toBe(200);
    expect(await statusOf(tokens.access_token)).toBe(401);
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
    let latest = token;
    for (const scope of ['accounts:read sign_in_links:write', 'sign_in_links:write', 'offline_access', '']) {
      const { body } = await agent.refresh(latest, { scope });
      expect([scope, body.scope]).toEqual([scope, 'accounts:read']);
      latest = body.refresh_token;
    }
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
    const { refresh_token: without } = await agent.connect('revoking without client_id');
    await sendForm(service, `${agent.issuerPath}/revoke`, { token: without, token_type_hint: 'unknown' });
    expect((await agent.refresh(without)).status).toBe(400);
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

  it('treats a name that is null as missing', async () => {
    const { status, body } = await register({ redirect_uris: [REDIRECT_URI], client_name: null });
    expect([status, body['client_name']]).toEqual([201, 'agent.example.com']);
  });

  it('registers the addresses that can be used, and says which were left out', async () => {
    const usable = ['http://127.0.0.1/', 'vscode://vscode.mcp/cb', 'com.example.app:/cb', REDIRECT_URI];
    const unusable = [
      'http://agent.example.com/',
      'javascript:alert(1)',
      'data:text/html,x',
      'file:///etc/passwd',
      'search-ms:q',
    ];
    const { status, body } = await register({
      redirect_uris: [...unusable, ...usable, ...usable],
      client_name: 'x'.repeat(500),
      'client_name#ja': 'x',
      client_uris: [],
    });
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { redirect_uris: usable, redirect_uris_left_out: unusable, client_name: 'x'.repeat(200) },
    });
    const many = Array.from(
      { length: 20 },
      (_, index) => `https://agent.example.com/${'x'.repeat(900)}/${index}`,
    );
    expect((await register({ redirect_uris: many })).body['redirect_uris']).toEqual(many.slice(0, 4));
    const tooMany = await register({ redirect_uris: Array(101).fill(REDIRECT_URI) });
    expect(tooMany).toMatchObject({ status: 400, body: { error: 'invalid_client_metadata' } });
    const none = await register({ redirect_uris: unusable });
    expect(none).toMatchObject({ status: 400, body: { error: 'invalid_redirect_uri' } });
    expect(none.body['error_description']).toContain('http://agent.example.com/');
  });

  it.each([
    [[]],
    [['http://agent.example.com/callback']],
    [['https://a;script-src.example.com/callback']],
    [['https://*.example.com/callback']],
    [['https:agent.example.com/callback']],
    [['JavaScript:alert(1)']],
    [['https://user@agent.example.com/callback']],
    [[`${REDIRECT_URI}#fragment`]],
    [[`https://agent.example.com/${'x'.repeat(2_000)}`]],
    [[7]],
  ])('rejects redirect addresses like %j', async (redirectUris) => {
    const { status, body } = await register({ redirect_uris: redirectUris });
    expect(status).toBe(400);
    expect(body['error']).toMatch(/^invalid_(?:redirect_uri|client_metadata)$/);
  });

  it('is kept for four weeks after a user has opened its page, and longer if the user opens it again', async () => {
    const [opened, refused] = [await LoginAgent.register(service), await LoginAgent.register(service)];
    const visitor = new Visitor(service);
    const isKnownAfter = async (days: number, used: LoginAgent, opens = true): Promise<boolean> => {
      using _clock = moveClock(service, days * DAY);
      await service.app.get(ExpiryJob).run();
      const rows = await service.database.query('SELECT FROM registered_agent WHERE id = $1', [used.id]);
      if (opens && rows.length > 0) expect((await visitor.get(used.authorizePath())).status).toBe(303);
      return rows.length > 0;
    };
    await visitor.get(opened.authorizePath());
    // Nobody has seen a page of the agent.
    await visitor.get(refused.authorizePath({ redirect_uri: 'https://elsewhere.example/callback' }));
    expect(await isKnownAfter(2, refused)).toBe(false);
    expect(await isKnownAfter(20, opened)).toBe(true);
    expect(await isKnownAfter(47, opened, false)).toBe(true);
    expect(await isKnownAfter(49, opened)).toBe(false);
  });

  it('is kept for a day only if strangers have opened the pages of 1,000 others since then', async () => {
    const [connected, oldest, newest] = [
      await LoginAgent.register(service),
      await LoginAgent.register(service),
      await LoginAgent.register(service),
    ];
    const { refresh_token: token } = await connected.connect('kept');
    const visitor = new Visitor(service);
    const daysKept = async (agent: LoginAgent): Promise<number> => {
      const [row] = await service.database.query<{ days: number }>(
        'SELECT extract(day FROM unused_since - now())::int AS days FROM registered_agent WHERE id = $1',
        [agent.id],
      );
      return row?.days ?? -1;
    };
    await visitor.get(oldest.authorizePath());
    expect(await daysKept(oldest)).toBe(26);
    const insert = `INSERT INTO registered_agent (id, client_id, kind, name, redirect_uris, created_at, unused_since)
      SELECT gen_random_uuid(), $1, 'dynamic', 'Stranger', '{}', now(), now() + interval '27 days' FROM generate_series(1, $2)`;
    await service.database.query(insert, [service.production.clientId, 1_500]);
    await visitor.get(newest.authorizePath());
    expect(await daysKept(oldest)).toBe(26);
    await service.database.query(insert, [service.development.clientId, 1_500]);
    await visitor.get(newest.authorizePath());
    const [kept] = await service.database.query(
      'SELECT count(*)::int FROM registered_agent WHERE client_id = $1 AND unused_since > now()',
      [service.development.clientId],
    );
    expect(kept).toEqual({ count: 1_000 });
    expect([await daysKept(oldest), await daysKept(newest)]).toEqual([0, 26]);
    // A user who is about to log in can finish.
    expect((await visitor.get(oldest.authorizePath())).status).toBe(303);
    expect((await connected.refresh(token)).status).toBe(200);
  });

  it('is deleted after an hour if it is the oldest of more than 10,000 that no user has opened', async () => {
    const register = () => LoginAgent.register(service);
    const [connected, opened, recent, oldest] = [
      await register(),
      await register(),
      await register(),
      await register(),
    ];
    await connected.connect('unused');
    await new Visitor(service).get(opened.authorizePath());
    const age = (agent: LoginAgent, by: string) =>
      service.database.query(
        'UPDATE registered_agent SET unused_since = unused_since - $2::interval WHERE id = $1',
        [agent.id, by],
      );
    await age(recent, '59 minutes');
    await age(oldest, '3 hours');
    const add = ({ clientId }: { clientId: string }, count: number, unusedFor: string) =>
      service.database.query(
        `INSERT INTO registered_agent (id, client_id, kind, name, redirect_uris, created_at, unused_since)
         SELECT gen_random_uuid(), $1, 'dynamic', 'Flood', '{}', now(), now() - $3::interval FROM generate_series(1, $2)`,
        [clientId, count, unusedFor],
      );
    const known = () =>
      service.database.query<{ id: string }>('SELECT id FROM registered_agent WHERE id = ANY ($1)', [
        [connected, opened, recent, oldest].map(({ id }) => id),
      ]);
    await add(service.production, 10_500, '2 hours');
    await add(service.development, 9_999, '2 hours');
    await add(service.development, 10_500, '1 minute');
    await register();
    expect(await known()).toHaveLength(4);
    await add(service.development, 501, '2 hours');
    await register();
    expect(new Set((await known()).map(({ id }) => id))).toEqual(
      new Set([connected, opened, recent].map(({ id }) => id)),
    );
    const left = await service.database.query(
      `SELECT count(*)::int FROM registered_agent WHERE name = 'Flood' AND unused_since < now() - interval '1 hour'
        GROUP BY client_id ORDER BY count`,
    );
    expect(left).toEqual([{ count: 10_000 }, { count: 10_500 }]);
    await service.database.query(`DELETE FROM registered_agent WHERE name = 'Flood'`);
  });

  it('is deleted after a day if no user has connected the agent', async () => {
    const unused = await LoginAgent.register(service);
    const used = await LoginAgent.register(service);
    const { refresh_token: token } = await used.connect('registered');
    const late = await LoginAgent.register(service);
    {
      using _clock = moveClock(service, DAY - MINUTE);
      const code = (await late.authorize('just in time')).get('code') ?? '';
      using _later = moveClock(service, DAY + MINUTE);
      await service.app.get(ExpiryJob).run();
      using _redeemed = moveClock(service, DAY - MINUTE);
      expect((await late.redeem(code)).status).toBe(200);
    }
    using _clock = moveClock(service, DAY + HOUR + MINUTE);
    await service.app.get(ExpiryJob).run();
    const page = await new Visitor(service).get(unused.authorizePath());
    expect(page.text).toContain('The agent is not known');
    expect((await unused.redeem('x')).body).toMatchObject({ error: 'invalid_client' });
    expect((await used.refresh(token)).status).toBe(200);
  });

  it('is kept while a user is connected, although its row was locked when the user connected it', async () => {
    const agent = await LoginAgent.register(service);
    const { refresh_token: token } = await agent.connect('locked');
    await service.database.query('UPDATE registered_agent SET unused_since = created_at WHERE id = $1', [
      agent.id,
    ]);
    using _clock = moveClock(service, 2 * DAY);
    await service.app.get(ExpiryJob).run();
    expect((await agent.refresh(token)).status).toBe(200);
    expect((await new Visitor(service).get(agent.authorizePath())).text).not.toContain('not known');
  });
});
