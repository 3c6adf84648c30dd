import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { SandboxLogin } from '../support/agent-logins.js';
import { agentOf } from '../support/agents.js';
import { BEHIND_PROXY } from '../support/visitor.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

let service: TestApp;

beforeAll(async () => {
  service = await startTestApp(BEHIND_PROXY);
});
afterAll(() => service.close());

const INFO = { name: 'test', version: '1.0.0' };
const addressOf = (clientId: string): URL => new URL(`/mcp/${clientId}`, service.baseUrl);

describe('Unmodified clients log in', () => {
  it('with client 2.x and dynamic registration', async () => {
    const url = addressOf(service.development.clientId);
    const authProvider = new SandboxLogin(service, 'sdk-2');
    const first = new StreamableHTTPClientTransport(url, { authProvider });
    await expect(new Client(INFO).connect(first)).rejects.toThrow(UnauthorizedError);
    expect(authProvider.response?.get('iss')).toBe(
      `${service.baseUrl}/connections/${service.development.clientId}`,
    );
    await first.finishAuth(authProvider.response as URLSearchParams);
    const client = new Client(INFO, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new StreamableHTTPClientTransport(url, { authProvider }));
    const agent = agentOf(client, undefined);
    expect(await agent.result('get_connection_info')).toMatchObject({ environment: 'development' });
    await agent.close();
  });

  it('with client 1.x and dynamic registration', async () => {
    const url = addressOf(service.development.clientId);
    const authProvider = new SandboxLogin(service, 'sdk-1');
    const first = new OldTransport(url, { authProvider: authProvider as never });
    await expect(new OldClient(INFO).connect(first as never)).rejects.toThrow('Unauthorized');
    await first.finishAuth(authProvider.response?.get('code') ?? '');
    const client = new OldClient(INFO);
    await client.connect(new OldTransport(url, { authProvider: authProvider as never }) as never);
    const agent = agentOf(client as never, undefined);
    expect(await agent.result('list_merchant_accounts')).toEqual({ accounts: [], next_cursor: null });
    await agent.close();
  });
});
