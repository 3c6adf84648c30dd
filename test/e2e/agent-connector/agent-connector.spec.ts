import { request as forward } from 'node:http';
import { once } from 'node:events';
import { ServiceConfiguration } from '../../../src/infrastructure/config/index.js';
import { submitForm } from '../../support/pages/dashboard-forms.js';
import { eventually } from '../../support/eventually.js';
import {
  ALL_TOOLS,
  CLIENTS,
  mcpToken,
  META,
  sendRpc,
  toolCall,
  type Agent,
  type Connect,
  type RpcResponse,
} from '../../support/agents/agents.js';
import { LoginAgent } from '../../support/agents/agent-logins.js';
import { moveClock } from '../../support/clock.js';
import { sendForm } from '../../support/logins/device-flow.js';
import { logLines } from '../../support/logs/log-lines.js';
import { serveMetrics } from '../../support/logs/metrics.js';
import { BEHIND_PROXY } from '../../support/pages/visitor.js';
import { basic, error, useTestApp } from '../../support/test-app.js';

const NETFLIX = { id: 16, name: 'Netflix' };

const service = useTestApp({
  CORS_ORIGINS: 'https://agent.example.com',
  METRICS_PORT: '0',
});
let token: string;

beforeAll(async () => {
  token = await mcpToken(service, 'user-1');
});

const connectNewest = Object.values(CLIENTS)[0] as Connect;

/** Connects an agent, and closes the connection after the work. */
async function asAgent<Result>(
  withToken: string,
  work: (agent: Agent) => Promise<Result>,
  connect = connectNewest,
): Promise<Result> {
  const agent = await connect(service.baseUrl, withToken);
  try {
    return await work(agent);
  } finally {
    await agent.close();
  }
}

const send = (
  body: unknown,
  headers: Record<string, string> = {},
  authorization: string | null = `Bearer ${token}`,
): Promise<RpcResponse> =>
  sendRpc(service, body, { ...(authorization === null ? {} : { authorization }), ...headers });

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

const sandbox = async (operation: string, body: object, as = service.development): Promise<void> => {
  expect((await service.request(`/development/${operation}`, { body, as })).status).toBe(200);
};

describe.each(Object.entries(CLIENTS))('The agent connector, with %s', (name, connect) => {
  it('lists the tools, and calls them', async () => {
    await sandbox('detected-accounts', { external_user_id: 'user-1', merchants: [NETFLIX.id] });
    await asAgent(
      token,
      async (agent) => {
        expect(agent.revision).toBe(name.slice(-10));
        expect(await agent.tools()).toEqual(ALL_TOOLS);
        const { results } = await agent.result<{ results: object[] }>('search_detected_accounts', {
          names: ['netflix', 'DoorDash'],
        });
        expect(results).toEqual([
          { name: 'netflix', detected: true, detected_at: expect.stringMatching(/Z$/) },
          { name: 'DoorDash', detected: false, detected_at: null },
        ]);
      },
      connect,
    );
  });

  it('refuses a token in the request after its revocation', async () => {
    const revoked = await mcpToken(service, 'revoked');
    await asAgent(
      revoked,
      async (agent) => {
        await agent.result('get_connection_info');
        const { clientId } = service.development;
        await sendForm(service, '/oauth/revoke', { token: revoked, client_id: clientId });
        await expect(agent.call('get_connection_info')).rejects.toThrow(/not valid/);
      },
      connect,
    );
  });

  it('refuses a token in the request after its expiry', async () => {
    const short = await mcpToken(service, 'expired', { expires_in: 60 });
    await asAgent(
      short,
      async (agent) => {
        await agent.result('get_connection_info');
        using _clock = moveClock(service, 61_000);
        await expect(agent.call('get_connection_info')).rejects.toThrow(/expired/);
      },
      connect,
    );
  });
});

describe('The credentials of the agent connector', () => {
  const REMEDY =
    'The company that the agent works for creates a token with POST /mcp/tokens/create, and configures it in the agent ' +
    'as the header "Authorization: Bearer <token>". Agents that log in use the address /mcp/{client_id} instead.';
  const INVALID = `The MCP token is not valid. ${REMEDY}`;

  it.each([
    [
      null,
      'The request has no credentials. Send the MCP token with the Bearer scheme in the Authorization header.',
    ],
    ['Basic YTpi', 'The Authorization header must use the Bearer scheme, with the MCP token.'],
  ])('are required: %s', async (authorization, message) => {
    const { status, headers, message: body } = await send(LIST, {}, authorization);
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toBe('Bearer realm="Agent connector"');
    expect(body).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: {
        code: -32000,
        message: `${message} ${REMEDY}`,
        data: { error_type: 'INVALID_INPUT', error_code: 'INVALID_ACCESS_TOKEN' },
      },
    });
  });

  it.each(['Bearer', 'Bearer x y', 'Bearer Bearer x', 'Bearer ${TOKEN}'])(
    'are not alone in the header, which the message says: %s',
    async (authorization) => {
      const { status, message } = await send(LIST, {}, authorization);
      const form =
        'Send the word Bearer, a space and the token, without quotation marks, placeholders or a second Bearer.';
      expect([status, message?.error?.message]).toEqual([
        401,
        `The MCP token is not valid. ${form} ${REMEDY}`,
      ]);
    },
  );

  it('cannot be used, and are not asked for, at an address that no API client can have', async () => {
    for (const authorization of [null, 'Bearer wrong', `Bearer ${token}`])
      for (const path of ['/mcp/sse', `/mcp/${service.development.clientId.slice(0, -1)}`]) {
        const headers: Record<string, string> = authorization === null ? {} : { authorization };
        const response = await sendRpc(service, LIST, headers, path);
        expect([response.status, response.headers.get('www-authenticate')]).toEqual([404, null]);
        expect(response.message?.error?.message).toContain('must end with the ID of an API client');
      }
  });

  it.each(['Bearer mcp_dev_0', `Bearer mcp_dev_${'a'.repeat(49)}`, 'Bearer a.b.c'])(
    'are invalid: %s',
    async (authorization) => {
      const { status, headers, message } = await send(LIST, {}, authorization);
      expect(status).toBe(401);
      expect(headers.get('www-authenticate')).toBe(
        'Bearer realm="Agent connector", error="invalid_token", error_description="The MCP token is not valid."',
      );
      expect(message?.error?.message).toBe(INVALID);
    },
  );

  it('are not those of another surface', async () => {
    const secret = service.development.secret;
    expect((await send(LIST, {}, `Bearer ${secret}`)).message?.error?.message).toBe(INVALID);
    expect((await send(LIST, {}, basic(service.development))).status).toBe(401);
    const dashboard = await service.request('/me', { token });
    expect(dashboard.status).toBe(401);
    const platform = await fetch(`${service.baseUrl}/detected-accounts/search`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ external_user_id: 'user-1', names: ['Netflix'] }),
    });
    expect(platform.status).toBe(401);
  });

  it('belong to the environment that a deployment is restricted to', async () => {
    const live = await mcpToken(service, 'user-1', { as: service.production });
    expect((await send(LIST, {}, `Bearer ${live}`)).status).toBe(200);
    const configuration = service.app.get(ServiceConfiguration);
    configuration.pinnedEnvironment = 'development';
    try {
      expect((await send(LIST, {}, `Bearer ${live}`)).status).toBe(401);
      expect((await send(LIST)).status).toBe(200);
    } finally {
      delete configuration.pinnedEnvironment;
    }
  });

  it('are checked before the body is read', async () => {
    expect((await send('{', {}, null)).status).toBe(401);
    expect((await send('{', { origin: 'https://evil.example' }, null)).status).toBe(403);
  });
});

describe('The protocol of the agent connector', () => {
  it.each(['GET', 'HEAD', 'DELETE', 'PUT', 'PATCH'])(
    'asks for a token before it refuses %s',
    async (method) => {
      for (const token of [undefined, 'wrong']) {
        const headers: Record<string, string> =
          token === undefined ? {} : { authorization: `Bearer ${token}` };
        const { status, headers: received } = await fetch(`${service.baseUrl}/mcp`, { method, headers });
        expect([status, received.get('www-authenticate')]).toEqual([
          401,
          expect.stringMatching(/^Bearer realm/),
        ]);
      }
      for (const path of ['/mcp/connection-codes', '/mcp/tokens/create'])
        expect((await fetch(`${service.baseUrl}${path}`, { method })).status).toBe(405);
    },
  );

  it.each(['GET', 'DELETE', 'PUT'])('has no %s', async (method) => {
    const response = await fetch(`${service.baseUrl}/mcp`, {
      method,
      headers: { authorization: `Bearer ${token}` },
    });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32000 } });
  });

  it.each([
    ['https://agent.example.com', 200],
    ['https://evil.example', 403],
    ['http://127.0.0.1:3000', 403],
    ['null', 403],
  ])('accepts requests of pages only from allowed origins: %s', async (origin, status) => {
    const { status: actual, headers } = await send(LIST, { origin });
    expect(actual).toBe(status);
    expect(headers.get('access-control-allow-origin')).toBe(status === 200 ? origin : null);
  });

  it('lets browsers of allowed origins send the token', async () => {
    const { status, headers } = await fetch(`${service.baseUrl}/mcp`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://agent.example.com',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,mcp-protocol-version',
      },
    });
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-headers')).toBe('authorization,mcp-protocol-version');
    expect(headers.get('access-control-allow-credentials')).toBeNull();
  });

  it.each([
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/mcp',
    '/.well-known/oauth-authorization-server/mcp',
    '/.well-known/openid-configuration',
    '/.well-known/openid-configuration/mcp',
    '/mcp/.well-known/openid-configuration',
    '/.well-known/mcp/server-card.json',
  ])('has no metadata that would start an authorization code flow: %s', async (path) => {
    const { status, body } = await service.request(path);
    expect(status).toBe(404);
    expect(body).toEqual(error('INVALID_REQUEST', 'NOT_FOUND', 'No operation has this path.'));
  });

  it('hides the metadata of the device flow from MCP clients that share its host', async () => {
    const path = '/.well-known/oauth-authorization-server';
    const forAgents = await service.request(path, { headers: { 'mcp-protocol-version': '2025-11-25' } });
    expect([forAgents.status, forAgents.body['error_code']]).toEqual([404, 'NOT_FOUND']);
    expect(forAgents.headers.get('cache-control')).toBe('no-store');
    const forOthers = await service.request(path);
    expect(forOthers.status).toBe(200);
    expect(forOthers.headers.get('vary')).toMatch(/MCP-Protocol-Version/);
    expect((await service.request('/register', { body: {} })).status).toBe(404);
  });

  it.each(Object.entries(CLIENTS))('makes %s report a wrong token', async (_name, connect) => {
    await expect(asAgent(`mcp_dev_${'a'.repeat(49)}`, (agent) => agent.tools(), connect)).rejects.toThrow(
      /creates a token with POST \/mcp\/tokens\/create|the server requires authorization/,
    );
  });

  it.each([
    ['{', 400, -32700, 'The request body is not valid JSON.'],
    ['\u0000', 400, -32700, 'The request body is not valid JSON.'],
    ['[]', 400, -32600, 'The request body must be a JSON object.'],
    [[LIST, 7], 400, -32600, 'The request body must be a JSON object.'],
    [[[LIST]], 400, -32600, 'The request body must be a JSON object.'],
    [Array(21).fill(LIST), 400, -32600, 'A batch must not have more than 20 messages.'],
    ['7', 400, -32600, 'The request body must be a JSON object.'],
    [
      `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`,
      400,
      -32600,
      'The request body must not be nested deeper than 32 levels.',
    ],
    [{}, 400, -32600, 'Bad Request: the request body is not a valid JSON-RPC message'],
    [
      { ...LIST, jsonrpc: '1.0' },
      400,
      -32600,
      'Bad Request: the request body is not a valid JSON-RPC message',
    ],
    [{ ...LIST, method: 'resources/list' }, 200, -32601, 'Method not found'],
    [{ ...LIST, method: 'subscriptions/listen' }, 404, -32601, 'The agent connector sends no notifications.'],
    [toolCall('no_such_tool'), 200, -32602, 'There is no tool with this name.'],
  ])('responds to %j with an error', async (body, status, code, message) => {
    const response = await send(body);
    expect(response.status).toBe(status);
    expect(response.message?.error).toMatchObject({ code, message });
  });

  it.each([
    ['application/json, text/event-stream', 'text/event-stream'],
    ['application/json', 'application/json'],
  ])('processes batches of the revision 2025-03-26 for clients that accept %s', async (accept, type) => {
    const call = (id: number, name: string) => ({ ...toolCall(name), id });
    const batch = [
      call(1, 'get_connection_info'),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { ...LIST, id: 2 },
      call(3, 'no_such_tool'),
      { jsonrpc: '1.0', id: 4 },
      call(5, 'list_merchant_accounts'),
    ];
    const count = async () => {
      const rows = await service.database.query("SELECT tool FROM request_log WHERE path = '/mcp'");
      return rows.length;
    };
    const before = await count();
    const { status, headers, message } = await send(batch, { accept, 'mcp-protocol-version': '2025-03-26' });
    expect([status, headers.get('content-type')]).toEqual([200, type]);
    expect(message).toEqual([
      { jsonrpc: '2.0', id: 1, result: expect.objectContaining({ structuredContent: expect.anything() }) },
      { jsonrpc: '2.0', id: 2, result: { tools: expect.any(Array) } },
      { jsonrpc: '2.0', id: 3, error: expect.objectContaining({ code: -32602 }) },
      { jsonrpc: '2.0', id: null, error: expect.objectContaining({ code: -32600 }) },
      { jsonrpc: '2.0', id: 5, result: expect.objectContaining({ structuredContent: expect.anything() }) },
    ]);
    expect(await count()).toBe(before + 3);
    const silent = await send([batch[1], batch[1]], { accept });
    expect([silent.status, silent.message]).toEqual([202, undefined]);
    expect((await send([LIST], { accept })).message).toHaveLength(1);
  });

  it('acknowledges notifications, and responds to those that clients send as requests', async () => {
    const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
    for (const notification of [initialized, { ...initialized, id: null }]) {
      const { status, message } = await send(notification);
      expect([status, message]).toEqual([202, undefined]);
    }
    const cancelled = { ...initialized, method: 'notifications/cancelled', params: { requestId: 1 } };
    for (const notification of [initialized, { ...initialized, params: {} }, cancelled]) {
      const { status, message } = await send({ ...notification, id: 2 });
      expect([status, message]).toEqual([200, { jsonrpc: '2.0', id: 2, result: {} }]);
    }
  });

  it('requires JSON of at most 512 KiB, and a client that accepts one of both kinds of response', async () => {
    const text = JSON.stringify(LIST);
    expect((await send(text, { 'content-type': 'text/plain' })).status).toBe(415);
    for (const accept of ['text/html', 'image/*, text/plain'])
      expect([accept, (await send(text, { accept })).status]).toEqual([accept, 406]);
    const { status, message } = await send(`{"jsonrpc":"2.0","id":9,"x":"${'x'.repeat(524_288)}"}`);
    expect(status).toBe(413);
    expect(message?.error).toMatchObject({ code: -32000, data: { error_code: 'PAYLOAD_TOO_LARGE' } });
  });

  it.each(['*/*', 'application/*, text/*', 'text/event-stream, application/json;q=0.5'])(
    'accepts any client that accepts both kinds of response: %s',
    async (accept) => {
      const { status, message } = await send(LIST, { accept });
      expect([status, message?.result?.['tools']]).toEqual([200, expect.any(Array)]);
    },
  );

  it.each([
    ['application/json', 'application/json'],
    ['text/event-stream;q=0, */*', 'application/json'],
    ['text/event-stream', 'text/event-stream'],
  ])('responds in the kind that the client accepts: %s', async (accept, type) => {
    const { status, headers, message } = await send(LIST, { accept });
    expect([status, headers.get('content-type')]).toEqual([200, type]);
    expect(message?.result?.['tools']).toEqual(expect.any(Array));
    const failed = await send(toolCall('no_such_tool'), { accept });
    expect([failed.status, failed.headers.get('content-type')]).toEqual([200, type]);
    expect(failed.message?.error).toMatchObject({ code: -32602 });
  });

  it.each([
    [{ ...LIST, params: null }],
    [{ ...LIST, params: { cursor: null, _meta: null } }],
    [{ jsonrpc: '2.0', id: 1, method: 'ping', params: null }],
  ])('treats parameters that are null as absent: %j', async (body) => {
    const { status, message } = await send(body);
    expect([status, message?.error]).toEqual([200, undefined]);
  });

  const initialize = (params: object) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', ...params },
  });
  const ping = (more: object) => ({ jsonrpc: '2.0', id: 1, method: 'ping', ...more });
  it.each([
    ['an empty object that PHP writes as a list', ping({ params: [] })],
    ['no progress token', ping({ params: { _meta: { progressToken: null } } })],
    ['a progress token that is a fraction', ping({ params: { _meta: { progressToken: 1.5 } } })],
    ['a list instead of _meta', ping({ params: { _meta: [] } })],
    ['a text instead of _meta', ping({ params: { _meta: 'x' } })],
    ['a member of its own', ping({ timestamp: 1, sessionId: 'x' })],
    ['no capabilities', initialize({ clientInfo: { name: 'x', version: '1' } })],
    ['capabilities as a list', initialize({ capabilities: [], clientInfo: { name: 'x', version: '1' } })],
    [
      'capabilities that are true or lists',
      initialize({
        capabilities: { sampling: true, experimental: [] },
        clientInfo: { name: 'x', version: '1' },
      }),
    ],
    ['no name', initialize({ capabilities: {} })],
    ['a name without a version', initialize({ capabilities: {}, clientInfo: { name: 'x' } })],
  ])('reads a message with %s', async (_what, body) => {
    const { status, message } = await send(body);
    expect([status, message?.error, message?.result]).toEqual([200, undefined, expect.any(Object)]);
  });

  it.each([
    ['', 200],
    ['2025-06-18, 2025-06-18', 200],
    ['2025-06-18, 2025-11-25', 400],
  ])('reads the revision of a header that is empty or repeated: %j', async (revision, status) => {
    expect((await send(LIST, { 'mcp-protocol-version': revision })).status).toBe(status);
  });

  it.each(['2025-11-25', '2099-01-01'])(
    'agrees on a revision with a client that names %s in the header of the first message, too',
    async (revision) => {
      const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'x', version: '1' } };
      const body = { jsonrpc: '2.0', id: 0, method: 'initialize', params };
      const { status, message } = await send(body, { 'mcp-protocol-version': revision });
      expect([status, message?.result?.['protocolVersion']]).toEqual([200, '2025-11-25']);
    },
  );

  it('says that the newest revision has no initialize', async () => {
    const body = { jsonrpc: '2.0', id: 0, method: 'initialize', params: { _meta: META } };
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'initialize' };
    const { status, message } = await send(body, headers);
    expect([status, message?.error]).toMatchObject([404, { code: -32601 }]);
  });

  it('accepts a request without Accept, and the path with a trailing slash', async () => {
    const { port } = new URL(service.baseUrl);
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    for (const path of ['/mcp', '/mcp/']) {
      const request = forward({ port, method: 'POST', path, headers });
      request.end(JSON.stringify(LIST));
      const [response] = (await once(request, 'response')) as [{ statusCode: number; resume(): void }];
      response.resume();
      expect([path, response.statusCode]).toEqual([path, 200]);
    }
    const withSlash = await sendRpc(service, LIST, {}, '/mcp/');
    expect(withSlash.message?.error).toMatchObject({ code: -32000 });
    expect((await fetch(`${service.baseUrl}/mcp/`, { headers })).status).toBe(405);
  });

  it.each([
    [
      toolCall(3 as unknown as string),
      200,
      -32602,
      'The params are not valid: params.name: Invalid input: expected string, received number',
    ],
    [
      toolCall('search_merchants', 'x' as unknown as object),
      200,
      -32602,
      'The params are not valid: params.arguments: Invalid input: expected record, received string',
    ],
    [
      { ...LIST, params: { cursor: 4 } },
      200,
      -32602,
      'The params are not valid: params.cursor: Invalid input: expected string, received number',
    ],
    [
      { ...LIST, method: 'initialize', params: { protocolVersion: 3 } },
      200,
      -32602,
      'The params are not valid: params.protocolVersion: Invalid input: expected string, received number',
    ],
  ])('describes invalid params in a sentence: %j', async (body, status, code, message) => {
    const response = await send(body);
    expect([response.status, response.message?.error]).toEqual([status, { code, message }]);
  });

  it.each(['[{a}]', '[{"path":1}]', '[ { } ]', '…'.repeat(400)])(
    'returns an unsupported revision unchanged even if it looks like a list of problems: %s',
    async (revision) => {
      const meta = { ...META, 'io.modelcontextprotocol/protocolVersion': revision };
      const { status, message } = await send({ ...LIST, params: { _meta: meta } });
      expect([status, message?.error?.code]).toEqual([400, -32022]);
      expect(message?.error?.message).toContain(revision.slice(0, 200));
    },
  );

  it('never repeats much of the input in an error', async () => {
    const long = `\u2028${'😀'.repeat(100_000)}`;
    const withMeta = (message: { method: string; params?: object }, meta: object = META) => ({
      ...message,
      params: { ...message.params, _meta: meta },
    });
    const newest = (method: string) => ({ 'mcp-protocol-version': '2026-07-28', 'mcp-method': method });
    for (const [body, headers] of [
      [{ ...LIST, method: long }],
      [{ ...LIST, id: long }],
      [{ ...LIST, method: 'ping', id: long }],
      [{ ...LIST, params: { [long]: 1, cursor: { [long]: 1 } } }],
      [toolCall(long)],
      [toolCall('search_merchants', { [long]: 1 })],
      [toolCall('search_merchants', { query: long, limit: long, cursor: long })],
      [toolCall('search_detected_accounts', { names: Array(50_000).fill(0) })],
      [toolCall('get_sign_in_link', { link_id: long })],
      [withMeta({ ...LIST, method: long }), newest('tools/list')],
      [withMeta(toolCall(long)), newest('tools/call')],
      [withMeta(LIST, { ...META, 'io.modelcontextprotocol/protocolVersion': long }), newest('tools/list')],
      [
        withMeta(LIST, { ...META, 'io.modelcontextprotocol/clientInfo': { [long]: 1 } }),
        newest('tools/list'),
      ],
      [withMeta({ ...LIST, method: 'initialize' }, { [long]: long })],
    ] as [unknown, Record<string, string>?][]) {
      const { status, message } = await send(body, headers);
      expect(status).toBeLessThan(500);
      const isError = message?.error !== undefined || message?.result?.['isError'] === true;
      expect([JSON.stringify(body).slice(0, 120), isError]).toEqual([expect.any(String), true]);
      expect(JSON.stringify(message).length).toBeLessThan(1_500);
      expect(JSON.stringify(message)).not.toMatch(/\\u[dD][89abAB]/);
    }
  });

  it('refuses revisions that it does not know', async () => {
    const { status, message } = await send(LIST, { 'mcp-protocol-version': '1990-01-01' });
    expect(status).toBe(400);
    expect(message?.error?.message).toMatch(/protocol version/i);
  });

  it('does not need the Host header', async () => {
    const { port } = new URL(service.baseUrl);
    const request = forward({
      port,
      method: 'POST',
      path: 'http://[broken/mcp',
      headers: { host: 'a b', authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });
    request.end(JSON.stringify(LIST));
    const [response] = (await once(request, 'response')) as [{ statusCode: number; resume(): void }];
    response.resume();
    expect(response.statusCode).toBeLessThan(500);
  });
});

describe('The list of tools', () => {
  interface Listed {
    readonly name: string;
    readonly title: string;
    readonly annotations: Readonly<Record<string, unknown>>;
    readonly inputSchema: { readonly properties: Record<string, object>; readonly required?: string[] };
    readonly outputSchema: object;
  }
  const listed = async (): Promise<Listed[]> =>
    (await send(LIST)).message?.result?.['tools'] as unknown as Listed[];

  it('takes about a kilobyte for each tool, because every model reads it', async () => {
    const tools = await listed();
    expect(JSON.stringify(tools).length / tools.length).toBeLessThan(1_060);
  });

  it('has the titles also in the annotations, and every hint', async () => {
    for (const { title, annotations } of await listed()) {
      expect(annotations).toEqual({
        title,
        readOnlyHint: expect.any(Boolean),
        destructiveHint: expect.any(Boolean),
        idempotentHint: expect.any(Boolean),
        openWorldHint: expect.any(Boolean),
      });
      if (annotations['readOnlyHint'] === true)
        expect(annotations).toMatchObject({
          destructiveHint: false,
          idempotentHint: true,
          openWorldHint: false,
        });
    }
  });

  it('allows additions to the results, at every level', async () => {
    for (const { outputSchema } of await listed())
      expect(JSON.stringify(outputSchema)).not.toContain('additionalProperties');
  });

  it('has one simple type for every argument, and no list of types anywhere', async () => {
    const tools = await listed();
    for (const { inputSchema } of tools)
      for (const schema of Object.values(inputSchema.properties))
        expect(schema).toMatchObject({ type: expect.stringMatching(/^(?:string|integer|array)$/) });
    expect(JSON.stringify(tools)).not.toMatch(/"type":\[|"anyOf"|"oneOf"|"allOf"|"null"|"nullable"|"\$ref"/);
    const optionals = tools.flatMap(({ inputSchema: { properties, required = [] } }) =>
      Object.keys(properties).filter((name) => !required.includes(name)),
    );
    expect(optionals.toSorted()).toEqual(expect.arrayContaining(['cursor', 'limit']));
  });

  it('can be null altogether', async () => {
    const { message } = await send(toolCall('get_connection_info', null as unknown as object));
    expect(message?.result).toMatchObject({ structuredContent: { environment: 'development' } });
  });

  it.each([null, '', ' ', 'null', 'None', 'undefined'])(
    'belongs to tools that read optional arguments that are %j as absent',
    async (value) => {
      for (const { name, inputSchema } of await listed()) {
        const optional = Object.keys(inputSchema.properties).filter(
          (each) => !inputSchema.required?.includes(each),
        );
        if (optional.length === 0) continue;
        const required = name === 'search_merchants' ? { query: 'netflix' } : {};
        const input = { ...required, ...Object.fromEntries(optional.map((each) => [each, value])) };
        const results = [
          (await send(toolCall(name, input))).message?.result,
          (await send(toolCall(name, required))).message?.result,
        ];
        expect(results[0]).toEqual(results[1]);
        expect(results[0]).not.toHaveProperty('isError');
      }
    },
  );

  it('can be cached by clients of the current revision', async () => {
    const { message } = await send(
      { ...LIST, params: { _meta: META } },
      { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' },
    );
    expect(message?.result).toMatchObject({ ttlMs: 3_600_000, cacheScope: 'private' });
  });
});

describe('Arguments in the shapes that models send', () => {
  const resultOf = async (name: string, input: unknown): Promise<Record<string, unknown> | undefined> =>
    (await send(toolCall(name, input as object))).message?.result;

  it.each<[string, unknown, object]>([
    ['get_connection_info', undefined, {}],
    ['get_connection_info', null, {}],
    ['get_connection_info', '', {}],
    ['get_connection_info', '{}', {}],
    ['get_connection_info', [], {}],
    ['search_merchants', '{"query":"netflix"}', { query: 'netflix' }],
    ['search_merchants', JSON.stringify('{"query":"netflix"}'), { query: 'netflix' }],
    ['search_merchants', [{ query: 'netflix' }], { query: 'netflix' }],
    ['search_merchants', { query: ['netflix'], limit: '1' }, { query: 'netflix', limit: 1 }],
    ['search_merchants', { query: 'netflix', limit: '1.0' }, { query: 'netflix', limit: 1 }],
    ['search_merchants', { query: 7 }, { query: '7' }],
    ['search_detected_accounts', { names: 'Netflix' }, { names: ['Netflix'] }],
    ['search_detected_accounts', { names: '["Netflix","Hulu"]' }, { names: ['Netflix', 'Hulu'] }],
    ['search_detected_accounts', { names: [7, 'Hulu'] }, { names: ['7', 'Hulu'] }],
    ['search_detected_accounts', '{"names":"[\\"Netflix\\"]"}', { names: ['Netflix'] }],
    ['list_merchant_accounts', { cursor: 'null' }, {}],
  ])('are read if only one meaning is possible: %s(%j)', async (name, sent, meant) => {
    const [result, expected] = [await resultOf(name, sent), await resultOf(name, meant)];
    expect(expected).not.toHaveProperty('isError');
    expect(result).toEqual(expected);
  });

  it.each<[string, object]>([
    ['n8n', { toolCallId: 'call_1', sessionId: 's', action: 'sendMessage', chatInput: 'Find Netflix' }],
    ['Cursor', { random_string: 'dummy', _meta: { progressToken: 1 } }],
    ['models that explain their calls', { reasoning: 'The user asked', explanation: '', thought: null }],
    ['programs with the members of every object', { constructor: 1, toString: [], hasOwnProperty: {} }],
    ['anything', { '': 1, page: 2, Limit: null, [`${'😀'.repeat(1_000)}\ud800`]: 1 }],
  ])('are read without those that %s adds', async (_client, added) => {
    for (const [name, known] of [
      ['get_connection_info', {}],
      ['list_merchant_accounts', {}],
      ['search_merchants', { query: 'netflix', limit: 1, cursor: '' }],
      ['search_detected_accounts', { names: ['Netflix'] }],
    ] as const)
      expect(await resultOf(name, { ...added, ...known })).toEqual(await resultOf(name, known));
  });

  it.each<[string, unknown, string]>([
    ['search_merchants', { query: 'a', limit: 'ten' }, '{"query":"text","limit":16}'],
    ['search_merchants', { query: 'a', limit: '1.5' }, '{"query":"text","limit":16}'],
    ['search_merchants', { query: 'a', limit: { value: 1 } }, '{"query":"text","limit":16}'],
    ['search_merchants', { query: true }, '{"query":"text"}'],
    ['search_merchants', { query: { text: 'a' } }, '{"query":"text"}'],
    ['search_detected_accounts', { names: 'Netflix, Hulu' }, '{"names":["text"]}'],
    ['search_detected_accounts', { names: [{ name: 'Netflix' }] }, '{"names":["text"]}'],
    ['search_detected_accounts', { names: '{"name":"Netflix"}' }, '{"names":["text"]}'],
    ['create_sign_in_link', { merchant_id: 'Netflix' }, '{"merchant_id":16}'],
    ['create_sign_in_link', { merchant_id: [16, 17] }, '{"merchant_id":16}'],
  ])('are refused with the right form otherwise: %s(%j)', async (name, sent, form) => {
    const result = await resultOf(name, sent);
    expect(result).toMatchObject({ isError: true });
    expect(JSON.stringify(result?.['content'])).toContain(
      JSON.stringify(JSON.stringify(`Send arguments in this form: ${form}`)).slice(3, -3),
    );
  });
});

describe('get_connection_info', () => {
  it('says what the connection is for', async () => {
    const info = await asAgent(token, (agent) => agent.result('get_connection_info'));
    expect(info).toEqual({
      environment: 'development',
      expires_at: expect.stringMatching(/Z$/),
      phone_number: '+1 *** *** 0123',
      can_create_sign_in_links: true,
      reason: null,
    });
  });

  it('says why there is no create_sign_in_link without a phone number', async () => {
    const withoutPhone = await mcpToken(service, 'user-1', { phone_number: null });
    await asAgent(withoutPhone, async (agent) => {
      expect(await agent.tools()).toEqual(ALL_TOOLS.filter((name) => name !== 'create_sign_in_link'));
      const { reason, ...info } = await agent.result('get_connection_info');
      expect(info).toMatchObject({ phone_number: null, can_create_sign_in_links: false });
      expect(await agent.call('create_sign_in_link', { merchant_id: NETFLIX.id })).toEqual({
        isError: true,
        content: { error_type: 'INVALID_REQUEST', error_code: 'NO_ACCESS', error_message: reason },
      });
    });
  });
});

describe('A premium-rate number', () => {
  it.each(['+19002345678', '+12129765678'])(
    'gets no text message, and the agent learns why: %s',
    async (number) => {
      const body = { external_user_id: 'user-1', phone_number: number };
      const created = await service.request<{ token: string }>('/mcp/tokens/create', {
        body,
        as: service.development,
      });
      expect(created.status).toBe(200);
      await asAgent(created.body.token, async (agent) => {
        expect(await agent.tools()).not.toContain('create_sign_in_link');
        const { reason, ...info } = await agent.result('get_connection_info');
        expect(info).toMatchObject({ can_create_sign_in_links: false });
        expect(reason).toContain('is a premium-rate number, which gets no text messages.');
        expect(await agent.call('create_sign_in_link', { merchant_id: NETFLIX.id })).toEqual({
          isError: true,
          content: { error_type: 'INVALID_REQUEST', error_code: 'NO_ACCESS', error_message: reason },
        });
      });
    },
  );
});

describe('The environment production without a merchant gateway', () => {
  it('offers no sign-in links, and says why', async () => {
    const live = await mcpToken(service, 'user-1', { as: service.production });
    await asAgent(live, async (agent) => {
      expect(await agent.tools()).not.toContain('create_sign_in_link');
      const { reason, ...info } = await agent.result('get_connection_info');
      expect(info).toMatchObject({ environment: 'production', can_create_sign_in_links: false });
      expect(reason).toBe(
        'Sign-in to merchants is not configured in this environment, so no sign-in link works for any merchant.',
      );
      expect(await agent.call('create_sign_in_link', { merchant_id: NETFLIX.id })).toEqual({
        isError: true,
        content: { error_type: 'MERCHANT_ERROR', error_code: 'MERCHANT_UNAVAILABLE', error_message: reason },
      });
      const { merchants, note } = await agent.result<{ merchants: object[]; note: string }>(
        'search_merchants',
        { query: 'netflix' },
      );
      expect(note).toBe(reason);
      expect(merchants).toMatchObject([{ id: NETFLIX.id, can_sign_in: false }]);
    });
  });
});

describe('search_merchants', () => {
  const NOT_TEXT =
    'Invalid input: expected text that is not blank, with at most 256 characters and without U+0000';
  interface Found {
    readonly merchants: { readonly id: number; readonly name: string }[];
    readonly next_cursor: string | null;
  }

  it('finds merchants by a part of their name, and says whether users can sign in to them', async () => {
    await service.database.query(
      `INSERT INTO merchant_status (merchant_id, type, status, requested_at) VALUES (16, 'link', 'DOWN', now())`,
    );
    const search = async () =>
      (await asAgent(token, (agent) => agent.result<Found>('search_merchants', { query: 'NetFl' })))
        .merchants;
    expect(await search()).toEqual([{ ...NETFLIX, can_sign_in: false }]);
    await service.database.query('DELETE FROM merchant_status');
    expect(await search()).toEqual([{ ...NETFLIX, can_sign_in: true }]);
  });

  it('counts Unicode characters, as operation 5 does', async () => {
    const { merchants } = await asAgent(token, (agent) =>
      agent.result<Found>('search_merchants', { query: '\u{1F600}'.repeat(200) + 'netflix' }),
    );
    expect(merchants).toEqual(expect.any(Array));
  });

  it.each([
    ['X', 'X'],
    ['EA', 'EA'],
    ['hp', 'HP'],
    ['REI', 'REI'],
    ['hbo', 'HBO Max'],
    ['Apple', 'Apple'],
    ['disney plus', 'Disney+'],
    ['Netflix account', 'Netflix'],
    ['Netflix Inc.', 'Netflix'],
    ['www.netflix.com', 'Netflix'],
    ['https://www.hulu.com/welcome', 'Hulu'],
  ])('returns the most relevant merchant first: %s', async (query, name) => {
    const { merchants } = await asAgent(token, (agent) => agent.result<Found>('search_merchants', { query }));
    expect(merchants[0]?.name).toBe(name);
  });

  it.each(['%', '!!!', '_', '🛒'])('finds nothing under %s', async (query) => {
    const found = await asAgent(token, (agent) => agent.result<Found>('search_merchants', { query }));
    expect(found).toEqual({ merchants: [], next_cursor: null });
  });

  it.each([1, 7])('returns pages of %i that together have every merchant once', async (limit) => {
    await asAgent(token, async (agent) => {
      const all = await agent.result<Found>('search_merchants', { query: 'ap', limit: 50 });
      const names: string[] = [];
      let cursor: string | null = null;
      do {
        const page: Found = await agent.result<Found>('search_merchants', { query: 'ap', limit, cursor });
        names.push(...page.merchants.map(({ name }) => name));
        cursor = page.next_cursor;
      } while (cursor !== null && names.length < 50);
      expect(names).toEqual(all.merchants.map(({ name }) => name));
      expect(names.length).toBeGreaterThan(10);
      expect(new Set(names).size).toBe(names.length);
    });
  });

  it('accepts a cursor only with the arguments of the page before', async () => {
    await asAgent(token, async (agent) => {
      const all = await agent.result<Found>('search_merchants', { query: 'an', limit: 50 });
      const other = await agent.call('search_merchants', { query: 'other', cursor: all.next_cursor ?? 'x' });
      expect(other).toMatchObject({ isError: true, content: { error_code: 'INVALID_CURSOR_FORMAT' } });
    });
  });

  it('leaves out merchants that the organization hides', async () => {
    const login = await service.login('owner');
    const hide = (verb: string) =>
      submitForm(service, login, `/dashboard/development/merchants/${NETFLIX.id}/${verb}`);
    expect((await hide('hide')).status).toBe(303);
    const { merchants } = await asAgent(token, (agent) =>
      agent.result<Found>('search_merchants', { query: 'netflix' }),
    );
    expect(merchants).toEqual([]);
    await hide('activate');
  });

  it.each([
    [{}, 'The argument query is not valid: Invalid input: expected string, received undefined'],
    [{ query: 'a\0b' }, `The argument query is not valid: ${NOT_TEXT}`],
    [{ query: ' ' }, `The argument query is not valid: ${NOT_TEXT}`],
    [{ query: 'x'.repeat(257) }, `The argument query is not valid: ${NOT_TEXT}`],
    [{ query: 'a', limit: 51 }, 'The argument limit is not valid: Too big: expected number to be <=50'],
    [{ query: 'a', Limit: 2 }, 'The argument "Limit" is not known. Did you mean limit?'],
    [{ querry: 'a', sessionId: 'x' }, 'The argument "querry" is not known. Did you mean query?'],
  ])('refuses %j', async (input, message) => {
    const result = await asAgent(token, (agent) => agent.call('search_merchants', input));
    expect(result).toEqual({
      isError: true,
      content: { error_type: 'INVALID_REQUEST', error_code: 'INVALID_FIELD', error_message: message },
    });
  });
});

describe('list_merchant_accounts', () => {
  interface Listed {
    readonly accounts: object[];
    readonly next_cursor: string | null;
  }
  const listOf = (withToken: string): Promise<Listed> =>
    asAgent(withToken, (agent) => agent.result<Listed>('list_merchant_accounts'));

  it('returns the accounts of the user of the token, and of nobody else', async () => {
    const other = await service.anotherOrganization();
    const account = { external_user_id: 'user-a', merchant_id: NETFLIX.id };
    await sandbox('accounts/link', account);
    const since = expect.stringMatching(/Z$/) as unknown;
    const mine = await mcpToken(service, 'user-a');
    expect(await listOf(mine)).toEqual({
      accounts: [{ merchant: NETFLIX, state: 'connected', since }],
      next_cursor: null,
    });
    const strangers = [
      await mcpToken(service, 'user-b'),
      await mcpToken(service, 'user-a', { as: service.production }),
      await mcpToken(service, 'user-a', { as: other.development }),
    ];
    for (const stranger of strangers) expect((await listOf(stranger)).accounts).toEqual([]);
    await sandbox('accounts/disconnect', account);
    expect(await listOf(mine)).toMatchObject({ accounts: [{ state: 'disconnected' }] });
  });
});

describe('list_sign_in_links', () => {
  interface Listed {
    readonly links: { readonly link_id: string; readonly status: string }[];
    readonly next_cursor: string | null;
  }
  const listOf = (withToken: string, cursor?: string): Promise<Listed> =>
    asAgent(withToken, (agent) => agent.result<Listed>('list_sign_in_links', { cursor }));

  it('lets another conversation find the links of the user, and nobody else', async () => {
    const created = await asAgent(await mcpToken(service, 'user-l'), (agent) =>
      agent.result('create_sign_in_link', { merchant_id: NETFLIX.id }),
    );
    const { phone_number: _, url: __, ...link } = created;
    expect(await listOf(await mcpToken(service, 'user-l'))).toEqual({ links: [link], next_cursor: null });
    const other = await service.anotherOrganization();
    const strangers = [
      await mcpToken(service, 'user-m'),
      await mcpToken(service, 'user-l', { as: service.production }),
      await mcpToken(service, 'user-l', { as: other.development }),
    ];
    for (const stranger of strangers) expect((await listOf(stranger)).links).toEqual([]);
  });

  it('shows the links of a revoked token as cancelled', async () => {
    const [revoked, kept] = [await mcpToken(service, 'user-r'), await mcpToken(service, 'user-r')];
    const create = (withToken: string) =>
      asAgent(withToken, (agent) =>
        agent.result<{ link_id: string; url: string }>('create_sign_in_link', { merchant_id: NETFLIX.id }),
      );
    const [first, second] = [await create(revoked), await create(kept)];
    await sendForm(service, '/oauth/revoke', { token: revoked, client_id: service.development.clientId });
    expect((await listOf(kept)).links).toMatchObject([
      { link_id: second.link_id, status: 'pending' },
      { link_id: first.link_id, status: 'cancelled' },
    ]);
    expect((await fetch(new URL(new URL(first.url).pathname, service.baseUrl))).status).toBe(410);
    expect((await fetch(new URL(new URL(second.url).pathname, service.baseUrl))).status).toBe(200);
  });

  it('returns pages that together have every link of the last week once, the newest first', async () => {
    await service.database.query(
      `INSERT INTO sign_in_link (id, token_hash, client_id, environment, external_user_id, merchant_id, status,
                                 created_at, expires_at)
       SELECT gen_random_uuid(), sha256(n::text::bytea), $1, 'development', 'user-p', 16, 'cancelled', time, time
         FROM generate_series(0, 173) n, date_trunc('minute', now() - n / 2 * interval '2 hours') time`,
      [service.development.clientId],
    );
    const paged = await mcpToken(service, 'user-p');
    const pages: Listed[] = [];
    let cursor: string | undefined;
    do {
      const page = await listOf(paged, cursor);
      pages.push(page);
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined && pages.length < 10);
    expect(pages.map(({ links }) => links.length)).toEqual([50, 50, 50, 18]);
    const ids = pages.flatMap(({ links }) => links.map(({ link_id }) => link_id));
    const rows = await service.database.query<{ id: string }>(
      `SELECT id FROM sign_in_link WHERE external_user_id = 'user-p' ORDER BY created_at DESC, id DESC LIMIT 168`,
    );
    expect(ids).toEqual(rows.map(({ id }) => id));
    const stranger = await mcpToken(service, 'user-q');
    const refused = await asAgent(stranger, (agent) =>
      agent.call('list_sign_in_links', { cursor: pages[0]?.next_cursor }),
    );
    expect(refused).toMatchObject({ isError: true, content: { error_code: 'INVALID_CURSOR_FORMAT' } });
  });
});

describe('Tool calls', () => {
  it('appear in the request log with the user and the tool; other messages do not', async () => {
    const logged = await mcpToken(service, 'logged');
    await asAgent(logged, async (agent) => {
      await agent.tools();
      await agent.result('search_merchants', { query: 'x' });
      await agent.call('search_merchants', {});
    });
    await send(toolCall('Made-up tool'), {}, `Bearer ${logged}`);
    const login = await service.login('owner');
    const path = '/request-logs?environment=development&external_user_id=logged';
    const { body } = await service.request<{ data: Record<string, unknown>[] }>(path, { login });
    const calls = body.data.filter((entry) => entry['path'] === '/mcp');
    const entry = { method: 'POST', path: '/mcp', status_code: 200, external_user_id: 'logged' };
    expect(calls).toEqual([
      expect.objectContaining({ ...entry, tool: null }),
      expect.objectContaining({ ...entry, tool: 'search_merchants' }),
      expect.objectContaining({ ...entry, tool: 'search_merchants' }),
    ]);
    const single = await service.request(`/request-logs/${String(calls[1]?.['id'])}`, { login });
    expect(single.body).toMatchObject({ ...entry, tool: 'search_merchants' });
  });

  it('are counted in the metrics, and leave a log line without the token', async () => {
    const metrics = await serveMetrics(service);
    const count = (outcome: string) =>
      metrics.value('mcs_tool_calls_total', { tool: 'search_merchants', outcome });
    const before = [await count('success'), await count('refused')];
    await asAgent(token, async (agent) => {
      await agent.result('search_merchants', { query: 'x' });
      await agent.call('search_merchants', {});
    });
    expect([await count('success'), await count('refused')]).toEqual(before.map((value) => (value ?? 0) + 1));
    await eventually('the log line is written', () =>
      logLines().some(({ route, tool }) => route === '/mcp' && tool === 'search_merchants'),
    );
    const lines = logLines().filter(({ route }) => route === '/mcp');
    expect(JSON.stringify(lines)).not.toContain(token);
  });

  it('report a failure of the service without its details', async () => {
    await using _table = await service.database.hide('merchant_account');
    const result = await asAgent(token, (agent) => agent.call('list_merchant_accounts'));
    expect(result).toEqual({
      isError: true,
      content: {
        error_type: 'API_ERROR',
        error_code: 'INTERNAL_ERROR',
        error_message: 'An unexpected error occurred. Quote the X-Request-Id header when reporting it.',
      },
    });
  });

  it('get 503 while the database is unavailable', async () => {
    await service.database.cutOff();
    try {
      const { status, headers, message } = await send(toolCall('get_connection_info'));
      expect(status).toBe(503);
      expect(headers.get('retry-after')).toBe('5');
      expect(message?.error).toMatchObject({ code: -32000, data: { error_code: 'SERVICE_UNAVAILABLE' } });
    } finally {
      await service.database.reconnect();
    }
    await eventually('the service recovers', async () => (await send(LIST)).status === 200 || undefined);
  });
});

describe('The limits of the agent connector', () => {
  const limited = useTestApp({
    ...BEHIND_PROXY,
    MCP_TOOL_CALLS_PER_MINUTE: '3',
    FAILED_CREDENTIALS_PER_MINUTE_AND_ADDRESS: '4',
    CONNECTOR_URL: 'https://agents.example.com',
    DASHBOARD_URL: 'https://dashboard.example.com',
  });

  const call = (withToken: string, body: object = toolCall('get_connection_info', {}, 'x'), headers = {}) =>
    sendRpc(limited, body, { authorization: `Bearer ${withToken}`, ...headers });
  const outcomes = (responses: readonly RpcResponse[]): unknown[] =>
    responses.map(({ message }) => message?.result?.['isError'] ?? false);

  it.each(Object.entries(CLIENTS))(
    'return an error result to %s, which continues its session',
    async (_name, connect) => {
      const agent = await connect(limited.baseUrl, await mcpToken(limited, 'user-1'));
      for (let index = 0; index < 3; index += 1) await agent.result('get_connection_info');
      for (let index = 0; index < 2; index += 1) {
        const { isError, content } = await agent.call('get_connection_info');
        expect([isError, content]).toEqual([
          true,
          {
            error_type: 'RATE_LIMIT_ERROR',
            error_code: 'TOO_MANY_REQUESTS',
            error_message: expect.any(String) as string,
            retry_after: expect.any(Number) as number,
          },
        ]);
        expect(content['retry_after']).toBeGreaterThan(0);
      }
      await agent.close();
    },
  );

  it('count the tool calls of each token, and show the state in headers and the request log', async () => {
    const tokens = [await mcpToken(limited, 'counted'), await mcpToken(limited, 'other')] as const;
    const responses = await Promise.all(Array.from({ length: 5 }, () => call(tokens[0])));
    expect(responses.map(({ status }) => status)).toEqual(Array(5).fill(200));
    expect(outcomes(responses).toSorted()).toEqual([false, false, false, true, true]);
    for (const { headers } of responses) {
      expect(headers.get('ratelimit-policy')).toBe('"tool-calls";q=3;w=60');
      expect(headers.get('ratelimit')).toMatch(/^"tool-calls";r=[012];t=\d+$/);
    }
    expect(outcomes([await call(tokens[1])])).toEqual([false]);
    const login = await limited.login('owner');
    const path = '/request-logs?environment=development&external_user_id=counted';
    const { body } = await limited.request<{ data: Record<string, unknown>[] }>(path, { login });
    const entries = body.data.filter((entry) => entry['path'] === '/mcp');
    expect(entries.map(({ status_code: status, tool }) => [status, tool])).toEqual(
      Array(5).fill([200, 'get_connection_info']),
    );
  });

  it('count the calls of a connected agent with any number of tokens together, and those of its user', async () => {
    const agent = await LoginAgent.register(limited);
    const path = `/mcp/${agent.clientId}`;
    const accepted = async (tokens: readonly string[]): Promise<number> => {
      const each = tokens.flatMap((token) => Array<string>(3).fill(token));
      const calls = each.map((token) =>
        sendRpc(limited, toolCall('get_connection_info'), { authorization: `Bearer ${token}` }, path),
      );
      return outcomes(await Promise.all(calls)).filter((isError) => !isError).length;
    };
    const first = await agent.connect('connected');
    const second = (await agent.refresh(first.refresh_token)).body;
    const third = (await agent.refresh(second.refresh_token)).body;
    expect(await accepted([first, second, third].map(({ access_token: token }) => token))).toBe(3);
    expect(await accepted([(await agent.connect('connected')).access_token])).toBe(3);
    expect(await accepted([(await agent.connect('connected')).access_token])).toBe(0);
    expect(await accepted([(await agent.connect('another')).access_token])).toBe(3);
  });

  it('refuse more than five times as many messages of any kind', async () => {
    const flooding = await mcpToken(limited, 'flood');
    const responses = await Promise.all(Array.from({ length: 20 }, () => call(flooding, LIST)));
    expect(responses.map(({ status }) => status).toSorted()).toEqual([
      ...Array<number>(15).fill(200),
      ...Array<number>(5).fill(429),
    ]);
    const refused = await call(flooding, toolCall('get_connection_info'));
    const retryAfter = Number(refused.headers.get('retry-after'));
    expect(retryAfter).toBeGreaterThan(0);
    expect([refused.status, refused.message]).toMatchObject([
      429,
      {
        jsonrpc: '2.0',
        id: null,
        error: { code: -32000, data: { error_code: 'TOO_MANY_REQUESTS', retry_after: retryAfter } },
      },
    ]);
    expect((await call(await mcpToken(limited, 'flood'), LIST)).status).toBe(200);
    const rows = await limited.database.query(
      `SELECT status_code FROM request_log WHERE external_user_id = 'flood' AND path = '/mcp'`,
    );
    expect(rows).toEqual([]);
  });

  it('count each message of a batch once', async () => {
    const token = await mcpToken(limited, 'batch');
    const batch = Array.from({ length: 14 }, (_, id) => ({ ...LIST, id }));
    const bodies = [batch, LIST, LIST];
    const statuses: number[] = [];
    for (const body of bodies) statuses.push((await call(token, body)).status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  it('refuse wrong tokens per IP address, but never a valid token', async () => {
    const right = await mcpToken(limited, 'right');
    const guess = (index: number, address: string) =>
      call(`mcp_dev_${String(index).padStart(49, 'a')}`, LIST, { 'x-forwarded-for': address });
    const subscriber = (index: number) => `2001:db8:1:2::${index}`;
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => guess(index, subscriber(index))),
    );
    expect(responses.map(({ status }) => status).toSorted()).toEqual([
      ...Array<number>(4).fill(401),
      ...Array<number>(16).fill(429),
    ]);
    const refused = responses.find(({ status }) => status === 429);
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused?.message?.error?.data).toMatchObject({ error_code: 'TOO_MANY_REQUESTS' });
    expect((await call(right, LIST, { 'x-forwarded-for': subscriber(1) })).status).toBe(200);
    expect((await guess(0, '2001:db8:1:3::1')).status).toBe(401);
    const missing = await sendRpc(limited, LIST, { 'x-forwarded-for': subscriber(1) });
    expect(missing.status).toBe(401);
  });

  it.each([
    ['agents.example.com', 404],
    ['Agents.example.com:443', 404],
    ['agents.example.com.', 404],
    ['dashboard.example.com', 200],
    ['10.0.0.7:3000', 200],
  ])('leave no metadata of the device flow on the connector’s own host: %s', async (host, status) => {
    const { port } = new URL(limited.baseUrl);
    const request = forward({ port, path: '/.well-known/oauth-authorization-server', headers: { host } });
    request.end();
    const [response] = (await once(request, 'response')) as [{ statusCode: number; resume(): void }];
    response.resume();
    expect(response.statusCode).toBe(status);
  });
});
