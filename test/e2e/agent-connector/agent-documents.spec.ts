import { createServer, type Server } from 'node:https';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { DAY, MINUTE, SECOND } from '../../../src/infrastructure/time/index.js';
import { LoginAgent, offered, REDIRECT_URI, SandboxLogin } from '../../support/agents/agent-logins.js';
import { agentOf, sendRpc, toolCall } from '../../support/agents/agents.js';
import { moveClock, setClock } from '../../support/clock.js';
import { registerAgent, saveAgentSettings } from '../../support/pages/dashboard-forms.js';
import { eventually } from '../../support/eventually.js';
import { httpClient } from '../../support/http/http-clients.js';
import { logLines } from '../../support/logs/log-lines.js';
import { outgoingRequests } from '../../support/http/outgoing-requests.js';
import {
  RECEIVER_CERTIFICATES,
  RECEIVER_KEY,
  TEST_AUTHORITY,
} from '../../support/webhooks/receiver-certificates.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { BEHIND_PROXY, Visitor } from '../../support/pages/visitor.js';

let service: TestApp;
let server: Server;
let origin: string;
/** The paths that were requested. */
const requests: string[] = [];
/** Writes the response for a path. */
const responses = new Map<string, (response: ServerResponse, url: string) => void>();

beforeAll(async () => {
  server = createServer({ key: RECEIVER_KEY, cert: RECEIVER_CERTIFICATES.trusted }, (request, response) => {
    const path = request.url ?? '';
    requests.push(path);
    const respond = responses.get(path) ?? sendDocument();
    respond(response, `${origin}${path}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `https://localhost:${(server.address() as AddressInfo).port}`;
  service = await startTestApp({ ...BEHIND_PROXY, WEBHOOK_TARGETS: 'any', WEBHOOK_EXTRA_CA: TEST_AUTHORITY });
});
afterAll(async () => {
  await service.close();
  server.closeAllConnections();
  server.close();
});

/** Responds with a valid document, with these changes. */
function sendDocument(changes: object = {}, headers: Record<string, string> = {}) {
  return (response: ServerResponse, url: string): void => {
    const document = {
      client_id: url,
      client_name: 'Document Agent',
      redirect_uris: [REDIRECT_URI, 'http://127.0.0.1/callback', 'vscode://callback'],
      token_endpoint_auth_method: 'none',
      ...changes,
    };
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(document));
  };
}

let next = 0;
/** Returns the URL of a new document. */
function documentAt(respond: (response: ServerResponse, url: string) => void): string {
  const path = `/agents/${(next += 1)}.json`;
  responses.set(path, respond);
  return `${origin}${path}`;
}

async function authorize(id: string, changes: Record<string, string> = {}) {
  return new Visitor(service).get(LoginAgent.named(service, id, REDIRECT_URI).authorizePath(changes));
}

/** Calls a tool with a token. */
async function statusOf(token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const path = `/mcp/${service.development.clientId}`;
  return (await sendRpc(service, toolCall('get_connection_info'), headers, path)).status;
}

const countOf = (id: string): number => requests.filter((path) => `${origin}${path}` === id).length;

describe('Client ID metadata documents', () => {
  it('identify an unmodified client, without registration', async () => {
    const id = documentAt(sendDocument());
    const url = new URL(`/mcp/${service.development.clientId}`, service.baseUrl);
    const authProvider = new SandboxLogin(service, 'document', id);
    const first = new StreamableHTTPClientTransport(url, { authProvider });
    await expect(new Client({ name: 'test', version: '1' }).connect(first)).rejects.toThrow(
      UnauthorizedError,
    );
    await first.finishAuth(authProvider.response as URLSearchParams);
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(url, { authProvider }));
    const agent = agentOf(client, undefined);
    expect(await agent.result('get_connection_info')).toMatchObject({ environment: 'development' });
    await agent.close();
    expect(authProvider.clientInformation()).toMatchObject({ client_id: id });
    const [connection] = await service.database.query(
      'SELECT agent_id, agent_name, agent_host FROM agent_connection',
    );
    expect(connection).toEqual({
      agent_id: id,
      agent_name: 'Document Agent',
      agent_host: 'agent.example.com',
    });
  });

  it('say on the page whose agent it is, without invisible characters', async () => {
    const id = documentAt(sendDocument({ client_name: 'Document\u202E Agent' }));
    const agent = LoginAgent.named(service, id, 'http://127.0.0.1:5000/callback');
    const visitor = new Visitor(service);
    const page = await visitor.get(await agent.logIn(visitor, 'reader'));
    expect(page.text).toContain('Document Agent');
    expect(page.text).toContain('a program on this computer');
    const remote = LoginAgent.named(service, documentAt(sendDocument()), REDIRECT_URI);
    expect((await visitor.get(await remote.logIn(visitor, 'reader'))).text).toContain(
      'it belongs to localhost',
    );
  });

  it('do not lead a browser anywhere by an error: anyone can publish one', async () => {
    const id = documentAt(sendDocument());
    expect(offered(await authorize(id, { response_type: 'token' })).get('error')).toBe(
      'unsupported_response_type',
    );
    const local = LoginAgent.named(service, id, 'http://127.0.0.1:4711/callback');
    const page = await new Visitor(service).get(local.authorizePath({ response_type: 'token' }));
    expect(offered(page, local.redirectUri).get('state')).toBe('the state');
  });

  const send =
    (text: string, headers: Record<string, string> = {}) =>
    (response: ServerResponse) =>
      void response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(text);

  it.each<[string, (response: ServerResponse, url: string) => void]>([
    ['is missing', (response) => void response.writeHead(404).end()],
    ['is created', (response, url) => void response.writeHead(201).end(JSON.stringify({ client_id: url }))],
    ['redirects', (response) => void response.writeHead(302, { location: `${origin}/valid.json` }).end()],
    ['is no JSON', send('<html>')],
    ['is no object', send('null')],
    ['is not text', send('{}', { 'content-type': 'image/png' })],
    ['is longer than 5 KB', sendDocument({ padding: 'x'.repeat(5 * 1024) })],
    ['has another client_id', sendDocument({ client_id: 'https://localhost/other.json' })],
    [
      'has a client_id that differs by a slash',
      (response, url) => sendDocument({ client_id: `${url}/` })(response, url),
    ],
    ['has no client_id', sendDocument({ client_id: undefined })],
    ['has no redirect addresses', sendDocument({ redirect_uris: undefined })],
    ['has a redirect address that is a text', sendDocument({ redirect_uris: REDIRECT_URI })],
    ['has too many redirect addresses', sendDocument({ redirect_uris: Array(51).fill(REDIRECT_URI) })],
    ['has a secret', sendDocument({ client_secret: 'secret' })],
    ['authenticates with a secret', sendDocument({ token_endpoint_auth_method: 'client_secret_basic' })],
    [
      'lists only other methods',
      sendDocument({ token_endpoint_auth_methods_supported: ['private_key_jwt'] }),
    ],
    ['lists methods as an array', sendDocument({ token_endpoint_auth_method: ['none'] })],
    ['lists grants as a text', sendDocument({ grant_types: 'authorization_code' })],
    ['lists no code grant', sendDocument({ grant_types: ['client_credentials'] })],
    ['lists no code response', sendDocument({ response_types: ['token'] })],
  ])('are not accepted if the document %s', async (_title, respond) => {
    const id = documentAt(respond);
    const page = await authorize(id);
    expect(page).toMatchObject({ status: 400, location: null });
    expect(page.text).toContain('The agent is not known');
    // Errors are not cached.
    responses.set(new URL(id).pathname, sendDocument());
    expect((await authorize(id)).status).toBe(303);
    expect(countOf(id)).toBe(2);
  });

  it.each([
    'http://localhost/client.json',
    'https://localhost',
    'https://localhost/',
    'https://user@localhost/client.json',
    'https://localhost/a/../client.json',
    'https://LOCALHOST/client.json',
    'https://localhost:443/client.json',
    'https://localhost/client.json#fragment',
    `https://localhost/${'x'.repeat(2_000)}`,
    'https://',
    'ftp://localhost/client.json',
  ])('are not requested from %s', async (id) => {
    const before = requests.length;
    expect(await authorize(id)).toMatchObject({ status: 400, location: null });
    expect(requests).toHaveLength(before);
  });

  it('are given up if they do not end', async () => {
    const id = documentAt(
      (response) => void response.writeHead(200, { 'content-type': 'application/json' }).write('{'),
    );
    // The document never ends.
    expect((await authorize(id)).status).toBe(400);
  });

  it('are read in the encodings and with the media types that servers really send', async () => {
    const encoded =
      (headers: Record<string, string>, encode: (text: string) => Buffer) =>
      (response: ServerResponse, url: string): void => {
        const document = { client_id: url, client_name: 'Agént', redirect_uris: [REDIRECT_URI] };
        response.writeHead(200, headers).end(encode(JSON.stringify(document)));
      };
    for (const respond of [
      encoded({ 'content-encoding': 'gzip' }, (text) => gzipSync(text)),
      encoded({ 'content-encoding': 'br', 'content-type': 'application/json' }, (text) =>
        brotliCompressSync(text),
      ),
      encoded({ 'content-type': 'application/octet-stream' }, (text) => Buffer.from(text)),
      encoded({ 'content-type': 'binary/octet-stream' }, (text) => Buffer.from(`\uFEFF${text}`)),
      encoded({ 'content-type': 'application/json; charset=ISO-8859-1' }, (text) =>
        Buffer.from(text, 'latin1'),
      ),
    ])
      expect((await authorize(documentAt(respond))).status).toBe(303);
  });

  const status = (code: number) => (response: ServerResponse) => void response.writeHead(code).end();
  const logged = (reason: string, usesCopy: boolean): Promise<boolean> =>
    eventually('the failure is logged', () =>
      logLines().some(
        (line) => line['reason'] === reason && line['usesCopy'] === usesCopy && line['host'] === 'localhost',
      ),
    );

  it.each<[string, (response: ServerResponse, url: string) => void, string]>([
    ['responds with 503', status(503), 'localhost responded with status 503'],
    ['responds with 403', status(403), 'localhost responded with status 403'],
    ['responds with 429', status(429), 'localhost responded with status 429'],
    [
      'closes the connection',
      (response) => void response.destroy(),
      'the document at localhost cannot be read: the connection was closed before a response arrived',
    ],
    [
      'closes the connection in the middle',
      (response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('{', () => response.destroy());
      },
      'the document at localhost cannot be read: the connection was closed before the end of the document',
    ],
  ])(
    'name host and failure if the server %s, and the last good copy is used for a day',
    async (_, fails, reason) => {
      const id = documentAt(fails);
      const page = await authorize(id);
      expect(page.status).toBe(400);
      expect(page.text).toContain(`The agent cannot be identified now: ${reason}. Try again`);
      expect(page.text).not.toContain('Remove the connector');
      await logged(reason, false);

      const path = new URL(id).pathname;
      responses.set(path, sendDocument());
      expect((await authorize(id)).status).toBe(303);
      responses.set(path, fails);
      const before = countOf(id);
      {
        using _clock = moveClock(service, 6 * MINUTE);
        for (let request = 0; request < 3; request += 1) expect((await authorize(id)).status).toBe(303);
        expect(countOf(id)).toBe(before + 1);
        await logged(reason, true);
      }
      {
        // After the last good copy: a day and 4 minutes, and then 3 more.
        using _clock = moveClock(service, DAY - 2 * MINUTE);
        expect((await authorize(id)).status).toBe(303);
      }
      using _clock = moveClock(service, 3 * MINUTE);
      expect((await authorize(id)).text).toContain(reason);
    },
  );

  it.each([
    ['is gone', status(410)],
    ['describes another agent now', sendDocument({ client_id: 'https://localhost/other.json' })],
    ['requires a secret now', sendDocument({ token_endpoint_auth_method: 'client_secret_basic' })],
  ])('are not replaced by a copy if the document %s', async (_, respond) => {
    const id = documentAt(sendDocument());
    expect((await authorize(id)).status).toBe(303);
    responses.set(new URL(id).pathname, respond);
    using _clock = moveClock(service, 6 * MINUTE);
    expect((await authorize(id)).text).toContain('The agent is not known: ');
  });

  it('are read again when their lifetime has ended, also if the clock is set back meanwhile', async () => {
    const id = documentAt(sendDocument());
    expect((await authorize(id)).status).toBe(303);
    responses.set(new URL(id).pathname, status(410));
    using _clock = setClock(service, -DAY, 6 * MINUTE);
    expect((await authorize(id)).text).toContain('The agent is not known: ');
  });

  it('of a host do not wait for each other, and there is a limit per host', async () => {
    const good = documentAt(sendDocument());
    expect((await authorize(good)).status).toBe(303);
    const waiting: ServerResponse[] = [];
    const slow = (): string => documentAt((response) => void waiting.push(response));
    const slowPages = Array.from({ length: 7 }, () => authorize(slow()));
    await eventually('the documents are requested', () => waiting.length === 7);
    // A further document of the host is read while the others are waiting.
    expect((await authorize(documentAt(sendDocument()))).status).toBe(303);
    slowPages.push(authorize(slow()));
    await eventually('the document is requested', () => waiting.length === 8);
    const refused = await authorize(documentAt(sendDocument()));
    expect(refused.text).toContain('the service is reading other documents of localhost');
    for (const response of waiting) response.writeHead(404).end();
    expect((await Promise.all(slowPages)).map(({ status: code }) => code)).toEqual(Array(8).fill(400));
    expect((await authorize(documentAt(sendDocument()))).status).toBe(303);
  });

  it('are fetched once for 20 concurrent requests', async () => {
    const id = documentAt((response, url) => void setTimeout(() => sendDocument()(response, url), 100));
    const pages = await Promise.all(Array.from({ length: 20 }, () => authorize(id)));
    expect(pages.map(({ status }) => status)).toEqual(Array(20).fill(303));
    expect(countOf(id)).toBe(1);
  });

  it.each([
    ['no-store', 5 * MINUTE],
    ['max-age=1', 5 * MINUTE],
    ['public, max-age=3600', 60 * MINUTE],
    ['max-age=99999999', DAY],
  ])('are cached with Cache-Control: %s', async (cacheControl, lifetime) => {
    const id = documentAt(sendDocument({}, { 'cache-control': cacheControl }));
    await authorize(id);
    await authorize(id);
    expect(countOf(id)).toBe(1);
    {
      using _clock = moveClock(service, lifetime - SECOND);
      await authorize(id);
    }
    const early = countOf(id);
    using _clock = moveClock(service, lifetime + MINUTE);
    await authorize(id);
    expect([early, countOf(id)]).toEqual([1, 2]);
  });

  it.each([
    'https://chatgpt.com/connector_platform_oauth_redirect',
    'https://chatgpt.com/connector/oauth/IbUR3zxyNQ16',
  ])('are accepted as ChatGPT publishes them, with the address %s', async (redirectUri) => {
    const id = documentAt(
      sendDocument({
        client_name: 'ChatGPT',
        client_uri: 'https://chatgpt.com/',
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: 'private_key_jwt',
        token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
        token_endpoint_auth_signing_alg: 'RS256',
        jwks_uri: 'https://chatgpt.com/oauth/jwks.json',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      }),
    );
    const { access_token: token } = await LoginAgent.named(service, id, redirectUri).connect('reader');
    expect(token).toMatch(/^mcp_dev_/);
  });

  it('are accepted as Claude publishes them, with a loopback address without a port', async () => {
    const redirectUris = ['http://localhost/callback', 'http://127.0.0.1/callback'];
    const id = documentAt(sendDocument({ client_name: 'Claude Code', redirect_uris: redirectUris }));
    for (const redirectUri of ['http://localhost:54321/callback', 'http://127.0.0.1:3118/callback'])
      expect(await LoginAgent.named(service, id, redirectUri).connect('reader')).toHaveProperty(
        'refresh_token',
      );
  });

  it('are accepted as Claude publishes them, with both of its addresses', async () => {
    const redirectUris = [
      'https://claude.ai/api/mcp/auth_callback',
      'https://claude.com/api/mcp/auth_callback',
    ];
    const id = documentAt(sendDocument({ client_name: 'Claude', redirect_uris: redirectUris }));
    for (const redirectUri of redirectUris)
      expect(await LoginAgent.named(service, id, redirectUri).connect('reader')).toHaveProperty(
        'refresh_token',
      );
  });

  it('can change after the consent without effect on it', async () => {
    const id = documentAt(sendDocument());
    const agent = LoginAgent.named(service, id, REDIRECT_URI);
    const code = (await agent.authorize('steady')).get('code') ?? '';
    responses.set(new URL(id).pathname, sendDocument({ redirect_uris: ['https://evil.example/'] }));
    expect((await agent.redeem(code, { redirect_uri: 'https://evil.example/' })).status).toBe(400);
    expect((await agent.redeem(code)).status).toBe(200);
  });
});

describe('Allowed agents', () => {
  const update = async (fields: Record<string, string>): Promise<number> =>
    (await saveAgentSettings(service, await service.login('owner'), fields)).status;
  afterEach(() => update({ allowed_agents: 'any' }));

  it('are those that return to a listed host', async () => {
    expect(await update({ allowed_agents: 'hosts', allowed_hosts: 'agent.example.com' })).toBe(303);
    const id = documentAt(sendDocument());
    expect((await authorize(id)).status).toBe(303);
    // For a program on the user's own machine, the host of the document counts.
    const loopback = { redirect_uri: 'http://127.0.0.1:4000/callback' };
    expect((await authorize(id, loopback)).status).toBe(403);
    expect(await update({ allowed_agents: 'hosts', allowed_hosts: 'localhost' })).toBe(303);
    expect((await authorize(id, loopback)).status).toBe(303);
    expect((await authorize(id)).status).toBe(403);
  });

  it('stop at every step when their host is no longer listed, and continue when it is again', async () => {
    const listing = (hosts: string) => update({ allowed_agents: 'hosts', allowed_hosts: hosts });
    await listing('agent.example.com');
    const agent = LoginAgent.named(service, documentAt(sendDocument()), REDIRECT_URI);
    const local = LoginAgent.named(service, agent.id, 'http://127.0.0.1:4000/callback');
    const { access_token: token, refresh_token: refresh } = await agent.connect('delisted');
    const code = (await agent.authorize('delisted')).get('code') ?? '';
    const visitor = new Visitor(service);
    const page = await agent.logIn(visitor, 'delisted');
    const statuses = async () => [
      (await visitor.fill(page, { action: 'approve' })).status,
      (await agent.redeem(code)).status,
      await statusOf(token),
      (await agent.refresh(refresh)).status,
    ];
    expect(await listing('other.example.com')).toBe(303);
    expect(await statuses()).toEqual([403, 400, 401, 400]);
    expect((await visitor.get(page)).text).toContain('This organization does not allow this agent.');
    expect(await listing('agent.example.com')).toBe(303);
    expect(await statuses()).toEqual([303, 200, 200, 200]);

    // For a program on the user's own machine, the host of the document counts.
    await listing('localhost');
    const { access_token: ofLocal } = await local.connect('delisted');
    expect(await statusOf(ofLocal)).toBe(200);
    await listing('127.0.0.1');
    expect(await statusOf(ofLocal)).toBe(401);
    const registered = await LoginAgent.register(service);
    const id = await registerAgent(service, await service.login('owner'), 'Registered');
    const known = LoginAgent.named(service, id, REDIRECT_URI);
    await update({ allowed_agents: 'any' });
    const [dynamic, owned] = [await registered.connect('delisted'), await known.connect('delisted')];
    await listing('localhost');
    expect(await statusOf(dynamic.access_token)).toBe(401);
    expect((await registered.refresh(dynamic.refresh_token)).status).toBe(400);
    expect(await statusOf(owned.access_token)).toBe(200);
    expect((await known.refresh(owned.refresh_token)).status).toBe(200);
  });

  it('are none, not even connected ones, when the setting is off', async () => {
    const agent = LoginAgent.named(service, documentAt(sendDocument()), REDIRECT_URI);
    const { refresh_token: token } = await agent.connect('switched-off');
    expect(await update({ allowed_agents: 'off' })).toBe(303);
    expect((await authorize(agent.id)).status).toBe(404);
    expect((await agent.refresh(token)).status).toBe(404);
    expect(await update({ allowed_agents: 'any' })).toBe(303);
    expect((await agent.refresh(token)).status).toBe(200);
  });
});

describe('Requests for documents', () => {
  it('have the headers that every request has, like those of all test files', () => {
    const { count, incomplete } = outgoingRequests();
    expect(count).toBeGreaterThanOrEqual(requests.length);
    expect(incomplete).toEqual([]);
  });
});

describe('Private addresses', () => {
  it('are never requested unless webhooks may go there', async () => {
    const guarded = httpClient({ WEBHOOK_EXTRA_CA: TEST_AUTHORITY });
    const before = requests.length;
    for (const url of [
      `${origin}/x.json`,
      'https://127.0.0.1/x.json',
      'https://10.0.0.1/x',
      'https://metadata.internal/x',
    ])
      expect(await guarded.getDocument({ url, maxBytes: 10, deadline: 1_000 })).toMatchObject({
        statusCode: 0,
      });
    expect(requests).toHaveLength(before);
    await guarded.close();
  });
});
