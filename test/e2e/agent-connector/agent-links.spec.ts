import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { MINUTE } from '../../../src/infrastructure/time/index.js';
import { ALL_TOOLS, CLIENTS, mcpToken, META, sendRpc, toolCall } from '../../support/agents/agents.js';
import { moveClock } from '../../support/clock.js';
import { saveAgentSettings } from '../../support/pages/dashboard-forms.js';
import { sendForm } from '../../support/logins/device-flow.js';
import { send } from '../../support/http/http.js';
import { GOOD, NETFLIX } from '../../support/merchants/sign-in-links.js';
import { useTestApp, type Login } from '../../support/test-app.js';
import { logInFor, LOGIN_PAGE, newUser } from '../../support/agents/user-links.js';
import { BEHIND_PROXY, textOf, Visitor } from '../../support/pages/visitor.js';

const service = useTestApp(BEHIND_PROXY);
let owner: Login;

beforeAll(async () => {
  owner = await service.login('owner');
  await setLogin(LOGIN_PAGE);
});

async function setLogin(url: string): Promise<void> {
  expect((await saveAgentSettings(service, owner, { allowed_agents: 'any', login_url: url })).status).toBe(
    303,
  );
}

const withoutPhone = (user: string): Promise<string> => mcpToken(service, user, { phone_number: null });

/** Does what the user does with a URL: logs in at the partner, and signs in to the merchant. */
async function useUrl(url: string, user: string, fields: Record<string, string> = GOOD): Promise<void> {
  const visitor = new Visitor(service);
  const { path } = await logInFor(service, visitor, new URL(url).pathname, user);
  expect((await visitor.submit(path, fields)).status).toBe(303);
}

const INPUT = { merchant_id: NETFLIX.id };
const META_WITH_URLS = {
  ...META,
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } },
};

interface Elicitation {
  readonly resultType?: string;
  readonly requestState?: string;
  readonly inputRequests?: {
    readonly url: { readonly params: { readonly url: string; readonly mode: string } };
  };
  readonly structuredContent?: Record<string, unknown>;
}

/** Calls a tool in the current revision. */
async function call(
  token: string,
  params: object = {},
  name = 'create_sign_in_link',
  input: object = INPUT,
): Promise<{ readonly result: Elicitation; readonly error: number | undefined }> {
  const message = toolCall(name, input);
  const body = { ...message, params: { ...message.params, _meta: META_WITH_URLS, ...params } };
  const headers = {
    authorization: `Bearer ${token}`,
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': name,
  };
  const { message: response } = await sendRpc(service, body, headers);
  return { result: (response?.result ?? {}) as Elicitation, error: response?.error?.code };
}

const countLinks = async (user: string): Promise<number> =>
  (await service.database.query('SELECT FROM sign_in_link WHERE external_user_id = $1', [user])).length;

describe.each(Object.entries(CLIENTS))('An agent without a phone number, with %s', (_name, connect) => {
  it('gets a URL and a sentence for the user, who connects the account', async () => {
    const user = newUser();
    const agent = await connect(service.baseUrl, await withoutPhone(user));
    expect(await agent.tools()).toEqual(ALL_TOOLS);
    const created = await agent.result<{ link_id: string; url: string; message: string }>(
      'create_sign_in_link',
      INPUT,
    );
    expect(created.message).toBe('Open this link to log in and connect your Netflix account.');
    // The same link, as long as it is pending.
    expect(await agent.result('create_sign_in_link', INPUT)).toMatchObject({ link_id: created.link_id });
    await useUrl(created.url, user);
    const { link_id } = created;
    expect(await agent.result('get_sign_in_link', { link_id })).toMatchObject({ status: 'completed' });
    await agent.close();
  });
});

describe('A client of revision 2026-07-28 that takes URLs', () => {
  it('has its user open the URL, and gets the completed link', async () => {
    const user = newUser();
    const client = new Client(
      { name: 'test', version: '1.0.0' },
      { versionNegotiation: { mode: 'auto' }, capabilities: { elicitation: { url: {} } } },
    );
    const asked: string[] = [];
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      asked.push(params.message);
      await useUrl((params as { url: string }).url, user);
      return { action: 'accept' as const };
    });
    const requestInit = { headers: { Authorization: `Bearer ${await withoutPhone(user)}` } };
    await client.connect(
      new StreamableHTTPClientTransport(new URL('/mcp', service.baseUrl), { requestInit }),
    );
    const result = await client.callTool({ name: 'create_sign_in_link', arguments: INPUT });
    expect(result.structuredContent).toMatchObject({ status: 'completed', merchant: NETFLIX });
    expect(asked).toEqual(['Open this link to log in and connect your Netflix account.']);
    await client.close();
  });

  it('gets the link cancelled if its user refuses', async () => {
    const user = newUser();
    const token = await withoutPhone(user);
    const { requestState } = (await call(token)).result;
    const declined = { requestState, inputResponses: { url: { action: 'decline' } } };
    expect((await call(token, declined)).result.structuredContent).toMatchObject({ status: 'cancelled' });
  });

  it('cannot change, swap or keep the state of a request', async () => {
    const user = newUser();
    const token = await withoutPhone(user);
    const { result } = await call(token);
    expect(result.inputRequests?.url.params).toMatchObject({ mode: 'url' });
    const { requestState = '' } = result;
    expect(Buffer.from(requestState, 'base64url').toString('latin1')).not.toContain(user);
    const accepted = { inputResponses: { url: { action: 'accept' } } };
    const middle = Math.floor(requestState.length / 2);
    const changed =
      requestState.slice(0, middle) +
      (requestState[middle] === 'A' ? 'B' : 'A') +
      requestState.slice(middle + 1);
    const others = [await withoutPhone(user), await withoutPhone(newUser())];
    for (const state of [changed, requestState.slice(0, -2), '', 'x', 'v1.e30.x'])
      expect(await call(token, { ...accepted, requestState: state })).toMatchObject({ error: -32_602 });
    for (const other of others)
      expect(await call(other, { ...accepted, requestState })).toMatchObject({ error: -32_602 });
    const otherTool = await call(token, { ...accepted, requestState }, 'cancel_sign_in_link', {
      link_id: 'x',
    });
    expect(otherTool.error).toBe(-32_602);
    // Sent again, it shows the same link and creates none.
    for (let sent = 0; sent < 3; sent += 1)
      expect((await call(token, { ...accepted, requestState })).result.structuredContent).toMatchObject({
        status: 'pending',
      });
    expect(await countLinks(user)).toBe(1);
    using _clock = moveClock(service, 15 * MINUTE);
    expect(await call(token, { ...accepted, requestState })).toMatchObject({ error: -32_602 });
  });

  it('gets a text message with a phone number, as before', async () => {
    const { result } = await call(await mcpToken(service, newUser(), { phone_number: '+12125550177' }));
    expect(result.resultType ?? 'complete').toBe('complete');
    expect(result.structuredContent).toMatchObject({ phone_number: '+1 *** *** 0177' });
  });
});

describe('A client of revision 2025-11-25 that takes URLs', () => {
  it('gets the URL as an error, and is notified when the user is done', async () => {
    const user = newUser();
    const client = new Client(
      { name: 'test', version: '1.0.0' },
      { capabilities: { elicitation: { url: {} } } },
    );
    const completed: string[] = [];
    client.setNotificationHandler('notifications/elicitation/complete', ({ params }) => {
      completed.push(params.elicitationId);
    });
    const requestInit = { headers: { Authorization: `Bearer ${await withoutPhone(user)}` } };
    await client.connect(
      new StreamableHTTPClientTransport(new URL('/mcp', service.baseUrl), { requestInit }),
    );
    const tool = { name: 'create_sign_in_link', arguments: INPUT };
    const ask = async (): Promise<{ url: string; elicitationId: string }> => {
      const error = (await client.callTool(tool).catch((thrown: unknown) => thrown)) as {
        code: number;
        data: { elicitations: { mode: string; url: string; elicitationId: string }[] };
      };
      expect(error).toMatchObject({ code: -32_042, data: { elicitations: [{ mode: 'url' }] } });
      return error.data.elicitations[0] as { url: string; elicitationId: string };
    };
    const first = await ask();
    expect(await ask()).toEqual(first);
    await useUrl(first.url, user);
    const result = await client.callTool(tool);
    expect(result.structuredContent).toMatchObject({ status: 'completed', link_id: first.elicitationId });
    expect(completed).toEqual([first.elicitationId]);
    expect(await countLinks(user)).toBe(1);
    // The account is not connected any more, so that the same request needs another link.
    const unlinked = await service.request('/accounts/unlink', {
      body: { external_user_id: user, ...INPUT },
      as: service.development,
    });
    expect(unlinked.status).toBe(200);
    const again = await ask();
    expect(again.elicitationId).not.toBe(first.elicitationId);
    expect(await ask()).toEqual(again);
    await useUrl(again.url, user);
    expect((await client.callTool(tool)).structuredContent).toMatchObject({
      status: 'completed',
      link_id: again.elicitationId,
    });
    expect(await countLinks(user)).toBe(2);
    await client.close();
  });

  it('gets a session ID only if it takes URLs', async () => {
    const token = await withoutPhone(newUser());
    const session = async (capabilities: object): Promise<string | null> => {
      const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'a', version: '1' } };
      const { headers } = await send(`${service.baseUrl}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
      });
      return headers.get('mcp-session-id');
    };
    expect(await session({ elicitation: { url: {} } })).toMatch(/^url-elicitation\./);
    for (const capabilities of [
      {},
      { elicitation: {} },
      { elicitation: { form: {} } },
      { elicitation: null },
    ])
      expect(await session(capabilities)).toBeNull();
  });
});

describe('A link of an agent without a phone number', () => {
  it('ends when the token is revoked while the user logs in', async () => {
    const user = newUser();
    const token = await withoutPhone(user);
    const { result } = await call(token);
    const visitor = new Visitor(service);
    const url = result.inputRequests?.url.params.url ?? '';
    const { path } = await logInFor(service, visitor, new URL(url).pathname, user);
    await sendForm(service, '/oauth/revoke', { token, client_id: service.development.clientId });
    expect((await visitor.submit(path, GOOD)).location).toBe(path);
    const page = await visitor.get(path);
    expect(page.status).toBe(410);
    expect(textOf(page)).toContain('may no longer act for you');
  });

  it('is not offered without a login page', async () => {
    await setLogin('');
    const agent = await Object.values(CLIENTS)[0]?.(service.baseUrl, await withoutPhone(newUser()));
    expect(await agent?.tools()).not.toContain('create_sign_in_link');
    expect(await agent?.call('create_sign_in_link', INPUT)).toMatchObject({
      isError: true,
      content: { error_code: 'NO_ACCESS' },
    });
    await agent?.close();
    await setLogin(LOGIN_PAGE);
  });
});
