import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { TransactionHost } from '@nestjs-cls/transactional';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { Transaction } from '../../../src/infrastructure/database/index.js';
import { ServiceConfiguration } from '../../../src/infrastructure/config/index.js';
import { UserPseudonyms } from '../../../src/infrastructure/erasure/index.js';
import {
  AgentConnectionsRepository,
  AgentSettingsService,
} from '../../../src/modules/agent-authorization/index.js';
import { ApiKeysService } from '../../../src/modules/api-keys/index.js';
import { McpTokensRepository } from '../../../src/modules/mcp-tokens/index.js';
import { LoginAgent, REDIRECT_URI, sendForm } from '../../support/agents/agent-logins.js';
import { mcpToken, sendRpc, toolCall } from '../../support/agents/agents.js';
import {
  openPage,
  registerAgent,
  saveAgentSettings,
  submitForm,
} from '../../support/pages/dashboard-forms.js';
import { sendForm as sendClientForm } from '../../support/logins/device-flow.js';
import { auditEntries, auditedBy } from '../../support/logs/audited.js';
import { addUser, someAddress } from '../../support/pages/dashboard-users.js';
import { eventually } from '../../support/eventually.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { watchStatements } from '../../support/database/statements.js';
import { useTestApp, type Login, type TestApp } from '../../support/test-app.js';
import { expectUsualErrors } from '../../support/http/usual-errors.js';
import {
  BEHIND_PROXY,
  textOf,
  Visitor,
  visitorWithRole,
  type PageResponse,
} from '../../support/pages/visitor.js';
import { useReceiver } from '../../support/webhooks/webhook-receiver.js';

const service = useTestApp({ ...BEHIND_PROXY, WEBHOOK_TARGETS: 'any' }, { backgroundWork: true });
const receiver = useReceiver();
let agent: LoginAgent;

interface Connection {
  readonly id: string;
  readonly external_user_id: string;
  readonly agent: { readonly name: string; readonly host: string };
}
interface Page {
  readonly data: Connection[];
  readonly next_cursor: string | null;
}

beforeAll(async () => {
  const body = { environment: 'development', url: `${receiver.url}/hook` };
  const login = await service.login('owner');
  expect((await service.request('/webhook-endpoints/create', { body, login })).status).toBe(200);
  agent = await LoginAgent.register(service);
});

const list = async (query = '', as = service.development): Promise<Page> => {
  const { status, body } = await service.request<Page>(`/agent-connections${query}`, { as });
  expect(status).toBe(200);
  return body;
};

async function connectionOf(user: string): Promise<Connection> {
  const { data } = await list(`?external_user_id=${user}`);
  return data[0] as Connection;
}

const disconnect = (id: string, options: object = { as: service.development }) =>
  service.request<Connection>(`/agent-connections/${id}`, { method: 'DELETE', ...options });

const statusOf = async (token: string): Promise<number> => {
  const headers = { authorization: `Bearer ${token}` };
  return (
    await sendRpc(service, toolCall('get_connection_info'), headers, `/mcp/${service.development.clientId}`)
  ).status;
};

describe('A token of a connected agent', () => {
  it('names the agent in the request log; a token of the API client does not', async () => {
    const { access_token: token } = await agent.connect('logged');
    const created = await mcpToken(service, 'logged');
    const path = `/mcp/${service.development.clientId}`;
    for (const bearer of [token, created])
      await sendRpc(service, toolCall('get_connection_info'), { authorization: `Bearer ${bearer}` }, path);
    const login = await service.login('owner');
    const logs = '/request-logs?environment=development&external_user_id=logged';
    const { body } = await service.request<{ data: Record<string, unknown>[] }>(logs, { login });
    expect(body.data.filter((entry) => entry['path'] === path)).toMatchObject([
      { tool: 'get_connection_info', agent: null },
      { tool: 'get_connection_info', agent: 'Test Agent (agent.example.com)' },
    ]);
  });

  it('shows its scopes when it is introspected', async () => {
    const { access_token: token } = await agent.connect('introspected', { scope: 'accounts:read' });
    const introspect = async (value: string) =>
      (
        await sendClientForm<Record<string, unknown>>(
          service,
          '/oauth/introspect',
          { token: value },
          { as: service.development },
        )
      ).body;
    expect(await introspect(token)).toMatchObject({
      active: true,
      token_type: 'mcp',
      scope: 'accounts:read',
    });
    expect(await introspect(await mcpToken(service, 'introspected'))).not.toHaveProperty('scope');
  });
});

describe('GET /agent-connections', () => {
  it('lists the connections, newest first, by user and by host', async () => {
    for (const user of ['list-a', 'list-b', 'list-a']) await agent.connect(user);
    const loopback = await LoginAgent.register(service, { redirectUris: ['http://127.0.0.1/callback'] });
    await loopback.connect('list-a');
    const { data } = await list('?external_user_id=list-a');
    expect(data.map((each) => each.agent)).toEqual([
      { name: 'Test Agent', host: '127.0.0.1' },
      { name: 'Test Agent', host: 'agent.example.com' },
      { name: 'Test Agent', host: 'agent.example.com' },
    ]);
    expect(Object.keys(data[0] ?? {})).toEqual([
      'id',
      'external_user_id',
      'agent',
      'scopes',
      'created_at',
      'last_used_at',
      'expires_at',
    ]);
    expect((await list('?host=127.0.0.1')).data).toHaveLength(1);
    const first = await list('?external_user_id=list-a&limit=2');
    const second = await list(`?external_user_id=list-a&limit=2&cursor=${first.next_cursor}`);
    expect([...first.data, ...second.data]).toEqual(data);
    expect(second.next_cursor).toBeNull();
    const cursor = `/agent-connections?cursor=${first.next_cursor}`;
    expect((await service.request(cursor, { as: service.development })).status).toBe(400);
  });

  it('shows nothing of other clients', async () => {
    await agent.connect('hidden');
    const other = await service.anotherOrganization();
    expect(await list('', service.production)).toEqual({ data: [], next_cursor: null, limit: 25 });
    expect((await list('', other.development)).data).toEqual([]);
    const { id } = await connectionOf('hidden');
    for (const as of [service.production, other.development])
      expect((await disconnect(id, { as })).status).toBe(404);
    expect((await disconnect('x')).status).toBe(404);
  });

  it('returns the usual errors', async () => {
    await expectUsualErrors(service, '/agent-connections', 'agent_connection');
    await expectUsualErrors(
      service,
      '/agent-connections/19b11f7c-4c8e-49bf-853e-3cea2462349f',
      'agent_connection',
      { method: 'DELETE' },
    );
    const path = '/agent-connections?environment=production';
    expect((await service.request(path, { as: service.development })).status).toBe(403);
  });
});

describe('A user who loses the role while the change waits', () => {
  it.each([
    ['disconnects no agent', 'agent_connection'],
    ['removes no agent', 'registered_agent'],
  ])('%s', async (what, table) => {
    const name = `Kept by ${what}`;
    const id = await registerAgent(service, await service.login('owner'), name, REDIRECT_URI);
    await LoginAgent.named(service, id, REDIRECT_URI).connect(name);
    const connection = await connectionOf(encodeURIComponent(name));
    const path = what.startsWith('disconnects') ? `connections/${connection.id}/disconnect` : `${id}/remove`;
    const admin = await visitorWithRole(service, 'admin');
    await admin.get(`/dashboard/development/agents/${path}`);
    const { changing } = await service.app.get(DataSource).transaction(async (other) => {
      await other.query(`SELECT FROM ${table} WHERE id IN ($1, $2) FOR UPDATE`, [connection.id, id]);
      const started = admin.fill(`/dashboard/development/agents/${path}`, {});
      await eventually('the change waits', async () => {
        const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
        return (await service.database.query(waiting)).length > 0;
      });
      await service.database.query(`UPDATE dashboard_user SET role = 'viewer' WHERE id = $1`, [
        admin.login.userId,
      ]);
      return { changing: started };
    });
    expect((await changing).status).toBe(403);
    expect(await connectionOf(encodeURIComponent(name))).toMatchObject({ id: connection.id });
    await service.database.query('DELETE FROM registered_agent WHERE id = $1', [id]);
  });
});

describe('Connecting and disconnecting', () => {
  it('publishes events that name the agent, and leaves audit log entries that do not name the user', async () => {
    receiver.arrivals.length = 0;
    const { clientId } = service.development;
    const properties = { name: 'Backend', scopes: ['agents:write'] };
    const { token: secret } = await service.app.get(ApiKeysService).create(clientId, properties);
    rememberSecret(secret);
    const as = { ...service.development, secret };
    const audited = await auditedBy(service, async () => {
      const { access_token: token } = await agent.connect('observed');
      const { id } = await connectionOf('observed');
      const data = { connection_id: id, agent: { name: 'Test Agent', host: 'agent.example.com' } };
      const [connected] = await receiver.arrived(1);
      expect(connected?.event).toMatchObject({
        event: 'AGENT_CONNECTED',
        external_user_id: 'observed',
        data,
      });
      expect(await disconnect(id, { as })).toMatchObject({ status: 200, body: { id } });
      expect(await disconnect(id)).toMatchObject({ status: 404 });
      expect(await statusOf(token)).toBe(401);
      const [, disconnected] = await receiver.arrived(2);
      expect(disconnected?.event).toMatchObject({ event: 'AGENT_DISCONNECTED', data });
    });
    const name = 'Test Agent (agent.example.com)';
    expect(audited).toEqual([`agent.approve success ${name}`, `agent.disconnect success ${name}`]);
    const entries = await auditEntries(service);
    expect(entries.slice(0, 2)).toMatchObject([
      { actor: { name: 'Backend', email: 'API key' }, target: { type: 'agent', environment: 'development' } },
      { actor: { name: 'user of an API client' } },
    ]);
    expect(JSON.stringify(entries)).not.toContain('observed');
  });

  it('cancels the sign-in links of the agent', async () => {
    const { access_token: token } = await agent.connect('linking');
    const { id } = await connectionOf('linking');
    await service.database.query(
      `INSERT INTO sign_in_link (id, token_hash, client_id, environment, external_user_id, mcp_token_hash, merchant_id, status,
                                 created_at, expires_at)
       VALUES (gen_random_uuid(), sha256('link'), $1, 'development', 'linking', sha256($2::bytea), 16, 'pending', now(),
               now() + interval '15 minutes')`,
      [service.development.clientId, Buffer.from(token)],
    );
    await disconnect(id);
    const links = await service.database.query(
      "SELECT status FROM sign_in_link WHERE external_user_id = 'linking'",
    );
    expect(links).toEqual([{ status: 'cancelled' }]);
  });

  it('ends a connection once for 20 concurrent requests, while the agent refreshes its tokens', async () => {
    const { refresh_token: token } = await agent.connect('raced');
    const { id } = await connectionOf('raced');
    const [refreshed, ...ended] = await Promise.all([
      agent.refresh(token),
      ...Array.from({ length: 20 }, () => disconnect(id)),
    ]);
    expect(ended.filter(({ status }) => status === 200)).toHaveLength(1);
    if (refreshed.status === 200) {
      expect(await statusOf(refreshed.body.access_token)).toBe(401);
      expect((await agent.refresh(refreshed.body.refresh_token)).status).toBe(400);
    }
    const open = await service.database.query(
      "SELECT FROM agent_connection WHERE external_user_id = 'raced' AND ended_at IS NULL",
    );
    expect(open).toEqual([]);
  });

  it('ends a connection without a change of its tokens, of which there may be any number', async () => {
    const { access_token: token } = await agent.connect('tokens');
    const { id } = await connectionOf('tokens');
    const unchanged = () =>
      service.database.query(
        `SELECT token.xmin, refresh.xmin FROM mcp_token token
           JOIN agent_refresh_token refresh ON access_token_hash = token.token_hash WHERE token.connection_id = $1`,
        [id],
      );
    expect(await statusOf(token)).toBe(200);
    const before = await unchanged();
    expect(before).toHaveLength(1);
    expect((await disconnect(id)).status).toBe(200);
    expect(await unchanged()).toEqual(before);
    expect(await statusOf(token)).toBe(401);
    const listed = await service.app
      .get(McpTokensRepository)
      .newestOfUser(service.development.clientId, 'tokens', 1);
    expect(listed).toMatchObject([{ revokedAt: expect.any(Date) }]);
  });

  it('rolls back the end of a connection if its event cannot be published', async () => {
    const { access_token: token } = await agent.connect('unpublished');
    const { id } = await connectionOf('unpublished');
    {
      await using _table = await service.database.hide('webhook_event');
      expect((await disconnect(id)).status).toBe(500);
    }
    expect(await statusOf(token)).toBe(200);
  });
});

describe('Agent settings', () => {
  const settings = (fields: Record<string, string>) => saveAgentSettings(service, owner, fields);
  let owner: Awaited<ReturnType<TestApp['login']>>;
  beforeAll(async () => (owner = await service.login('owner')));

  it('have defaults, and can be replaced', async () => {
    const shown = async (environment = 'development') => {
      const { text } = await openPage(service, owner, `/dashboard/${environment}/agents/settings`);
      return [
        /<option value="(\w+)" selected>/.exec(text)?.[1],
        /<textarea[^>]*name="allowed_hosts"[^>]*>([^<]*)</.exec(text)?.[1]?.trim(),
        /name="login_url"[^>]*value="([^"]*)"/.exec(text)?.[1] ?? '',
      ];
    };
    expect(await shown()).toEqual(['any', '', '']);
    expect(await shown('production')).toEqual(['off', '', '']);
    const login_url = 'https://shop.example.com/login';
    await settings({ allowed_agents: 'hosts', allowed_hosts: 'claude.ai', login_url });
    expect(await shown()).toEqual(['hosts', 'claude.ai', login_url]);
    await settings({ allowed_agents: 'any' });
    expect(await shown()).toEqual(['any', '', '']);
  });

  it.each([
    [{ allowed_agents: 'all' }],
    [{ allowed_agents: 'hosts', allowed_hosts: 'https://claude.ai' }],
    [{ allowed_agents: 'hosts', allowed_hosts: 'Claude.ai' }],
    [{ allowed_agents: 'hosts', allowed_hosts: 'cursor://claude.ai' }],
    [{ allowed_agents: 'any', sandbox_login: 'nobody' }],
    [{ allowed_agents: 'any', login_url: 'javascript:alert(1)' }],
    [{ allowed_agents: 'any', login_url: 'https://user@shop.example.com' }],
    [{ allowed_agents: 'any', login_url: 'https://shop.example.com/#fragment' }],
    [{ allowed_agents: 'any', login_url: 'shop' }],
  ])('reject %j', async (fields) => {
    expect((await settings(fields as Record<string, string>)).status).toBe(400);
  });

  it.each([
    ['allowed_hosts', 'localhost:4300', /nor the scheme of an app, such as “cursor:”\.$/],
    [
      'return_hosts',
      'localhost:4300',
      /is not a host name in lower case without a scheme, port or path, such as shop\.example\.com\.$/,
    ],
    ['return_hosts', 'myapp:', /is not a host name in lower case/],
    ['return_hosts', 'https://shop.example.com', /is not a host name in lower case/],
    ['login_url', 'shop.example.com', /must be an https or http URL without a user name or fragment\.$/],
  ])('say what %s must be instead of %s', async (field, value, message) => {
    const { status, problem } = await settings({ allowed_agents: 'any', [field]: value });
    expect({ status, problem }).toEqual({ status: 400, problem: expect.stringMatching(message) });
  });

  it('say how users log in to connect an agent: in the sandbox only as long as there is no login page', async () => {
    const empty = async (): Promise<string> =>
      textOf(await openPage(service, owner, '/dashboard/development/agents?external_user_id=nobody'));
    await settings({ allowed_agents: 'any' });
    expect(await empty()).toContain('logs in: in the sandbox, as any test user.');
    await settings({ allowed_agents: 'any', login_url: 'https://shop.example.com/login' });
    expect(await empty()).toMatch(/and logs in\. /);
    await settings({ allowed_agents: 'any' });
  });

  it('list private-use schemes as schemes: the host that an app invents after one proves nothing', async () => {
    const uri = 'cursor://claude.ai/cb';
    const app = await LoginAgent.register(service, { redirectUris: [uri] });
    const status = async () => (await new Visitor(service).get(app.authorizePath())).status;
    for (const [allowed_hosts, expected] of [
      ['claude.ai', 403],
      ['vscode:\nclaude.ai', 403],
      ['cursor:', 303],
    ] as const) {
      await settings({ allowed_agents: 'hosts', allowed_hosts });
      expect([allowed_hosts, await status()]).toEqual([allowed_hosts, expected]);
    }
    await settings({ allowed_agents: 'any' });
    const { access_token: token, refresh_token: refresh } = await app.connect('app');
    expect((await list('?host=cursor:')).data).toMatchObject([{ agent: { host: 'cursor:' } }]);
    await settings({ allowed_agents: 'off' });
    expect(await statusOf(token)).toBe(401);
    const revoked = { token: refresh, client_id: app.id };
    expect((await sendForm(service, `${app.issuerPath}/revoke`, revoked)).status).toBe(200);
    await settings({ allowed_agents: 'any' });
    expect(await statusOf(token)).toBe(401);
    expect((await app.refresh(refresh)).status).toBe(400);
  });

  it.each([
    ['at the issuer of the agent', () => `${agent.issuerPath}/revoke`, () => agent.id],
    ['at the endpoint of the dashboard', () => '/oauth/revoke', () => service.development.clientId],
  ])(
    'do not hide tokens from their revocation while agents cannot log in, %s',
    async (_title, path, client) => {
      const { access_token: token, refresh_token: refresh } = await agent.connect('revoked while off');
      await settings({ allowed_agents: 'off' });
      const form = { token, client_id: client() };
      const revoked = await sendForm(service, path(), form);
      await settings({ allowed_agents: 'any' });
      expect([revoked.status, await statusOf(token)]).toEqual([200, 401]);
      // The access token alone was revoked.
      expect((await agent.refresh(refresh)).status).toBe(200);
    },
  );

  it('let an agent end its connection with a refresh token that is no longer stored', async () => {
    const first = await agent.connect('revoked late');
    await service.database.query('DELETE FROM agent_refresh_token WHERE token_hash = sha256($1::bytea)', [
      Buffer.from(first.refresh_token),
    ]);
    await settings({ allowed_agents: 'off' });
    const thief = await LoginAgent.register(service, {
      clientId: (await service.anotherOrganization()).development.clientId,
    });
    expect(
      (await sendForm(service, `${thief.issuerPath}/revoke`, { token: first.refresh_token })).status,
    ).toBe(200);
    await settings({ allowed_agents: 'any' });
    expect(await statusOf(first.access_token)).toBe(200);
    await sendForm(service, `${agent.issuerPath}/revoke`, {
      token: first.refresh_token,
      client_id: agent.id,
    });
    expect(await statusOf(first.access_token)).toBe(401);
  });

  it('register agents, at most 50, and end their connections with them', async () => {
    const create = (redirect_uris = REDIRECT_URI) =>
      submitForm(service, owner, '/dashboard/development/agents/register', {
        name: 'Corporate Agent',
        redirect_uris,
      });
    const id = await registerAgent(service, owner, 'Corporate Agent', REDIRECT_URI);
    const registered = LoginAgent.named(service, id, REDIRECT_URI);
    await settings({ allowed_agents: 'hosts', allowed_hosts: 'claude.ai' });
    const { access_token: token } = await registered.connect('corporate');
    await settings({ allowed_agents: 'any' });
    const all = await Promise.all(Array.from({ length: 60 }, () => create()));
    expect(all.filter(({ status }) => status === 303)).toHaveLength(49);
    expect((await create('http://agent.example.com')).status).toBe(400);
    const remove = (login = owner) =>
      submitForm(service, login, `/dashboard/development/agents/${id}/remove`);
    const other = await service.anotherOrganization();
    expect((await remove(await service.login('owner', other.id))).status).toBe(404);
    const code = (await registered.authorize('too late')).get('code') ?? '';
    expect(await auditedBy(service, remove)).toContain('agent.remove success Corporate Agent');
    expect(await statusOf(token)).toBe(401);
    expect(await registered.redeem(code)).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    expect((await remove()).status).toBe(404);
  });
});

describe('Removing an agent with many connections', () => {
  const USERS = 1_200;
  const ANNOUNCED = 20;
  let owner: Login;
  const connect = async (id: string): Promise<void> => {
    await service.database.query(
      `INSERT INTO agent_connection (id, client_id, external_user_id, agent_id, agent_name, agent_host, scopes, created_at,
                                     used_at, expires_at)
       SELECT gen_random_uuid(), $1, 'user ' || n, $2, 'Popular Agent', 'agent.example.com', '{accounts:read}', now(), now(),
              now() + interval '1 day'
         FROM generate_series(1, $3) n`,
      [service.development.clientId, id, USERS],
    );
  };
  const remove = (id: string) => submitForm(service, owner, `/dashboard/development/agents/${id}/remove`);
  const left = async (id: string) => {
    const [row] = await service.database.query<{ active: number; unannounced: number }>(
      `SELECT count(*) FILTER (WHERE ended_at IS NULL)::int AS active,
              count(ended_by)::int AS unannounced FROM agent_connection WHERE agent_id = $1`,
      [id],
    );
    return row;
  };
  const removals = async () =>
    (await service.database.query<{ count: number }>('SELECT count(*)::int FROM removed_agent'))[0]?.count;
  const announced = async (id: string) => {
    const [row] = await service.database.query(
      `SELECT (SELECT array[count(*), count(DISTINCT xmin::text)]::int[] FROM webhook_event
                WHERE event = 'AGENT_DISCONNECTED'
                  AND external_user_id IN (SELECT external_user_id FROM agent_connection WHERE agent_id = $1)) AS events,
              array[count(*), count(DISTINCT xmin::text)]::int[] AS entries
         FROM audit_log WHERE action = 'agent.disconnect' AND target_name LIKE 'Popular Agent%'`,
      [id],
    );
    return row;
  };
  beforeAll(async () => (owner = await service.login('owner')));

  it('ends all connections at once, and announces each in a transaction of its own', async () => {
    const id = await registerAgent(service, owner, 'Popular Agent', REDIRECT_URI);
    const popular = LoginAgent.named(service, id, REDIRECT_URI);
    const { access_token: token, refresh_token: refresh } = await popular.connect('popular');
    await connect(id);
    {
      // Every publication waits.
      await using _events = await service.database.hide('webhook_event');
      const job = import.meta.jest
        .spyOn(service.app.get(AgentConnectionsRepository), 'endPage')
        .mockRejectedValue(new Error('The connections do not end yet'));
      expect((await remove(id)).status).toBe(303);
      expect(await left(id)).toEqual({ active: USERS + 1, unannounced: 0 });
      expect(await statusOf(token)).toBe(401);
      expect(await popular.refresh(refresh)).toMatchObject({
        status: 401,
        body: { error: 'invalid_client' },
      });
      expect((await list('?external_user_id=user 7')).data).toEqual([]);
      expect((await remove(id)).status).toBe(404);
      job.mockRestore();
      const ended = { active: 0, unannounced: USERS + 1 };
      await eventually('all have ended', async () => (await left(id))?.active === 0);
      expect(await left(id)).toEqual(ended);
      expect(await statusOf(token)).toBe(401);
      await eventually('nothing is left to do', async () => (await removals()) === 0);
      // Announcing all of them would take the test long.
      await service.database.query(
        `UPDATE agent_connection SET ended_by = NULL WHERE agent_id = $1 AND id NOT IN (
           SELECT id FROM agent_connection WHERE agent_id = $1 LIMIT $2)`,
        [id, ANNOUNCED],
      );
    }
    await eventually('the ends are announced', async () => (await left(id))?.unannounced === 0);
    // How many there are, and how many transactions wrote them.
    const each = [ANNOUNCED, ANNOUNCED];
    expect(await announced(id)).toEqual({ events: each, entries: each });
    const entries = await auditEntries(service);
    expect(entries[0]).toMatchObject({
      event: { action: 'agent.disconnect' },
      actor: { email: owner.email },
    });
  });

  it('announces the ends of other clients in between', async () => {
    const id = await registerAgent(service, owner, 'Numerous Agent', REDIRECT_URI);
    const other = await service.anotherOrganization();
    await using _events = await service.database.hide('webhook_event');
    await connect(id);
    await remove(id);
    await eventually('all have ended', async () => (await left(id))?.active === 0);
    await service.database.query(
      `INSERT INTO agent_connection (id, client_id, external_user_id, agent_id, agent_name, agent_host, scopes, created_at,
                                     used_at, expires_at, ended_at, ended_by)
       SELECT gen_random_uuid(), $1, 'late', $2, 'Late Agent', 'agent.example.com', '{accounts:read}', now(), now(), now(),
              now(), ended_by
         FROM agent_connection WHERE agent_id = $2 LIMIT 1`,
      [other.development.clientId, id],
    );
    const order = await service.app.get(AgentConnectionsRepository).unannounced();
    const [late] = await service.database.query<{ id: string }>(
      `SELECT id FROM agent_connection WHERE external_user_id = 'late'`,
    );
    expect(order.slice(0, 2)).toContain(late?.id);
    await service.database.query('DELETE FROM agent_connection WHERE agent_id = $1', [id]);
  });

  it('finds the next ends in an index, without sorting all', async () => {
    const statements = watchStatements(service);
    await service.app.get(AgentConnectionsRepository).unannounced();
    const text = statements.findLast((each) => each.includes('ended_by IS NOT NULL')) ?? '';
    const id = randomUUID();
    await using _events = await service.database.hide('webhook_event');
    for (let copy = 0; copy < 10; copy += 1) await connect(id);
    await service.database.query(
      `UPDATE agent_connection SET ended_at = now(), ended_by = '{}' WHERE agent_id = $1`,
      [id],
    );
    await service.database.query('ANALYZE agent_connection');
    const rows = await service.database.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ${text}`,
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    const read = [...plan.matchAll(/agent_connection\b.*rows=(\d+)/g)].map(([, count]) => Number(count));
    expect([plan, Math.max(...read) <= 500]).toEqual([plan, true]);
    await service.database.query('DELETE FROM agent_connection WHERE agent_id = $1', [id]);
  });

  it('does not search again at once for ends that another process is announcing', async () => {
    const id = randomUUID();
    await connect(id);
    await service.database.query(
      'DELETE FROM agent_connection WHERE agent_id = $1 AND id <> (SELECT id FROM agent_connection WHERE agent_id = $1 LIMIT 1)',
      [id],
    );
    const another = new pg.Client({ connectionString: service.database.url });
    await another.connect();
    await another.query('BEGIN');
    // A lock with which the row can still be changed, so that its end appears when it is locked already.
    await another.query('SELECT FROM agent_connection WHERE agent_id = $1 FOR KEY SHARE', [id]);
    const searches = import.meta.jest.spyOn(service.app.get(AgentConnectionsRepository), 'unannounced');
    await service.database.query(
      `UPDATE agent_connection SET ended_at = now(), ended_by = '{}' WHERE agent_id = $1`,
      [id],
    );
    await pause(1_500);
    const { length } = searches.mock.calls;
    searches.mockRestore();
    await service.database.query('UPDATE agent_connection SET ended_by = NULL WHERE agent_id = $1', [id]);
    await another.end();
    expect(length).toBeGreaterThan(0);
    expect(length).toBeLessThanOrEqual(3);
  });

  it('ends the connections of agents of other clients in between', async () => {
    const other = await service.anotherOrganization();
    const order = await service.app.get(TransactionHost).withTransaction(async () => {
      const { manager } = service.app.get(Transaction);
      await manager.query(
        `INSERT INTO removed_agent (agent_id, client_id, removed_at, removed_by)
         SELECT 'removed ' || n, $1::uuid, now() - interval '1 minute', '{}'::jsonb FROM generate_series(1, 150) n
          UNION ALL SELECT 'removed late', $2, now(), '{}'::jsonb`,
        [service.development.clientId, other.development.clientId],
      );
      const found = await service.app.get(AgentConnectionsRepository).removedAgents();
      await manager.query(`DELETE FROM removed_agent WHERE starts_with(agent_id, 'removed ')`);
      return found;
    });
    expect(order).toHaveLength(100);
    expect(order.slice(0, 2)).toContain('removed late');
  });

  it('leaves no connection that is created at the same time', async () => {
    const id = await registerAgent(service, owner, 'Fleeting Agent', REDIRECT_URI);
    const fleeting = LoginAgent.named(service, id, REDIRECT_URI);
    const codes = await Promise.all(
      Array.from(
        { length: 20 },
        async (_, index) => (await fleeting.authorize(`fleeting ${index}`)).get('code') ?? '',
      ),
    );
    const [removed, ...redeemed] = await Promise.all([
      remove(id),
      ...codes.map((code) => fleeting.redeem(code)),
    ]);
    expect(removed.status).toBe(303);
    for (const { status, body } of redeemed)
      if (status === 200) expect(await statusOf(body.access_token)).toBe(401);
    await eventually('all have ended', async () => (await removals()) === 0);
    expect(await left(id)).toMatchObject({ active: 0 });
  });
});

describe('The sandbox of a production deployment', () => {
  /** Lets the service run as if in production. */
  const inProduction = () => {
    const configuration = service.app.get(ServiceConfiguration);
    const { nodeEnvironment } = configuration;
    configuration.nodeEnvironment = 'production';
    return { [Symbol.dispose]: () => void (configuration.nodeEnvironment = nodeEnvironment) };
  };
  const settings = async (fields: Record<string, string>, role: 'owner' | 'admin' = 'owner') =>
    saveAgentSettings(service, await service.login(role), { allowed_agents: 'any', ...fields });

  it('lets members of the organization log in as test users, in the dashboard', async () => {
    using _production = inProduction();
    const stranger = new Visitor(service);
    const { location: path = '' } = await stranger.get(agent.authorizePath());
    expect((await stranger.get(path ?? '')).text).not.toContain('name="external_user_id"');
    await stranger.submit(path ?? '', { action: 'log_in', external_user_id: 'victim' });
    expect((await stranger.submit(path ?? '', { action: 'approve' })).location).toBe(path);

    const [, link = ''] =
      /href="[^"]*(\/dashboard\/development\/agents\/log-in[^"]+)"/.exec(
        (await stranger.get(path ?? '')).text,
      ) ?? [];
    const id = new URL(link, service.baseUrl).searchParams.get('authorization_id') ?? '';
    expect((await stranger.get(link)).location).toContain('/login');
    const form = { authorization_id: id, external_user_id: 'tester' };
    const other = await visitorWithRole(service, 'owner', (await service.anotherOrganization()).id);
    expect((await other.fill(link, form)).status).toBe(404);
    const member = await visitorWithRole(service, 'member');
    const page = await member.get(link);
    expect(page.headers.get('content-security-policy')).not.toContain('form-action');
    expect(textOf(page)).toContain('Only to connect an agent: ');
    const ticket = (await member.fill(link, form)).location?.slice(service.baseUrl.length) ?? '';
    expect((await stranger.get(ticket)).location).toBe(path);
    const { location } = await stranger.fill(path ?? '', { action: 'approve' });
    const code = new URL(location ?? '').searchParams.get('code') ?? '';
    expect((await agent.redeem(code)).status).toBe(200);
    expect((await list('?external_user_id=tester')).data).toHaveLength(1);
  });

  it('records which member logs in as a test user, and denies viewers', async () => {
    using _production = inProduction();
    const stranger = new Visitor(service);
    const { location } = await stranger.get(agent.authorizePath());
    const id = location?.split('/').at(-1) ?? '';
    const link = `/dashboard/development/agents/log-in?authorization_id=${id}`;
    const form = { authorization_id: id, external_user_id: 'audited-tester' };
    const viewer = await visitorWithRole(service, 'viewer');
    const shown = await viewer.get(link);
    expect([shown.status, shown.text.includes('name="external_user_id"')]).toEqual([200, false]);
    expect(shown.text).toContain('Your role does not allow you to log in as a test user.');
    const member = await visitorWithRole(service, 'member');
    expect((await viewer.submit(link, form)).status).toBe(403);
    expect((await member.fill(link, form)).status).toBe(303);
    const clientId = service.development.clientId;
    const pseudonym = service.app.get(UserPseudonyms).of({ clientId, externalUserId: 'audited-tester' });
    const all = await auditEntries(service);
    const entries = all.filter(({ actor: { email } }) =>
      [viewer.login.email, member.login.email].includes(email),
    );
    expect(entries).toMatchObject([
      {
        event: { action: 'user_login.complete', outcome: { status: 'success' } },
        actor: { email: member.login.email },
        target: { type: 'user_login', name: 'Test Agent (agent.example.com)', environment: 'development' },
        // The audit log cannot forget users.
        changes: [{ field: 'user', to: pseudonym }],
      },
      {
        event: { action: 'user_login.complete', outcome: { status: 'denied' } },
        actor: { email: viewer.login.email },
      },
    ]);
  });

  it('lets members log in as test users for the page of a user, also if no agent may log in', async () => {
    using _production = inProduction();
    expect((await settings({ allowed_agents: 'off' }, 'admin')).status).toBe(303);
    const tester = await visitorWithRole(service, 'member');
    const userPage = `/users/${service.development.clientId}`;
    const path = (await tester.fill(userPage, { action: 'log_in' })).location ?? '';
    const [, link = ''] =
      /href="[^"]*(\/dashboard\/development\/agents\/log-in[^"]+)"/.exec((await tester.get(path)).text) ?? [];
    const id = new URL(link, service.baseUrl).searchParams.get('authorization_id') ?? '';
    const filled = await tester.fill(link, { authorization_id: id, external_user_id: 'page-tester' });
    expect(filled.status).toBe(303);
    let response = filled;
    while (response.location) response = await tester.get(response.location.replace(service.baseUrl, ''));
    expect(response.text).toContain('No assistant can act for you.');
    // Pages for these logins show the logo, too.
    const { organizationId } = service;
    await service.database.query('UPDATE organization SET logo = $2, logo_media_type = $3 WHERE id = $1', [
      organizationId,
      Buffer.from('logo'),
      'image/png',
    ]);
    expect((await tester.get(`/connections/${service.development.clientId}/logo`)).status).toBe(200);
    expect((await settings({}, 'admin')).status).toBe(303);
  });

  it('lets the window of an agent be found again, whatever the response of the dashboard and its login is', async () => {
    const member = await addUser(service, service.organizationId);
    const visitor = new Visitor(service);
    const { location } = await visitor.get(agent.authorizePath());
    const id = location?.split('/').at(-1) ?? '';
    const link = `/dashboard/development/agents/log-in?authorization_id=${id}`;
    const long = { email: 'x'.repeat(100_000) };
    const wrong = { email: someAddress(), password: 'wrong' };
    const responses: [what: string, status: number, response: PageResponse][] = [];
    const expectKept = (what: string, status: number, response: PageResponse): void =>
      void responses.push([what, status, response]);

    const before = await new Visitor(service).get('/login');
    expect(before.headers.get('cross-origin-opener-policy')).toBe('same-origin');
    const begun = await visitor.get(link);
    expectKept('without a login', 303, begun);
    const login = begun.location ?? '';
    expectKept('login', 200, await visitor.get(login));
    expectKept('address', 200, await visitor.submit('/login', { step: 'address', email: member.email }));
    expectKept('no address', 400, await visitor.submit('/login', { step: 'address' }));
    expectKept('wrong password', 403, await visitor.submit('/login', wrong));
    expectKept('long form', 413, await visitor.submit('/login', long));
    expectKept('form of another page', 403, await visitor.submit('/login', { form_token: 'x' }));
    for (let attempt = 0; attempt < 9; attempt += 1) await visitor.submit('/login', wrong);
    expectKept('too many attempts', 429, await visitor.submit('/login', wrong));
    expectKept('no passkey', 400, await visitor.submit('/login/passkey', {}));
    expectKept('second factor', 303, await visitor.get('/login/second-factor'));
    expectKept('unknown single sign-on', 403, await visitor.get('/sso/oidc/x'));
    expectKept('SAML response', 303, await visitor.submit('/sso/saml/x', {}, { cookie: '' }));
    expectKept('logged in', 303, await visitor.logIn(member.email, member.password));
    expectKept('page', 200, await visitor.get(link));
    const form = { authorization_id: id };
    expectKept('no user', 400, await visitor.submit(link, { ...form, external_user_id: ' ' }));
    expectKept('long user', 413, await visitor.submit(link, { external_user_id: 'x'.repeat(100_000) }));
    expectKept('continued', 303, await visitor.submit(link, { ...form, external_user_id: 'popup' }));
    const framed = ({ headers }: PageResponse) =>
      headers.get('content-security-policy')?.includes("frame-ancestors 'none'") !== true;
    expect(
      responses.map(([what, , response]) => [
        what,
        response.status,
        response.headers.get('cross-origin-opener-policy'),
        framed(response),
      ]),
    ).toEqual(responses.map(([what, status]) => [what, status, 'unsafe-none', false]));

    // In the same browser, the rest of the dashboard keeps no reference to the windows of other sites.
    for (const path of [
      '/dashboard/development',
      '/dashboard/development/agents',
      '/account',
      '/password-reset',
    ])
      expect([path, (await visitor.get(path)).headers.get('cross-origin-opener-policy')]).toEqual([
        path,
        'same-origin',
      ]);
  });

  it('lets anyone log in if an owner says so', async () => {
    using _production = inProduction();
    expect((await settings({})).status).toBe(303);
    expect((await settings({ sandbox_login: 'anyone' }, 'admin')).status).toBe(403);
    expect((await settings({ sandbox_login: 'anyone' })).status).toBe(303);
    // An absent field leaves the setting as it is.
    expect((await settings({}, 'admin')).status).toBe(303);
    expect(await agent.connect('anyone')).toHaveProperty('access_token');
    // An admin can close the sandbox, and cannot open it again.
    const loginPage = { login_url: 'https://app.example/login' };
    expect((await settings(loginPage, 'admin')).status).toBe(303);
    expect((await settings({}, 'admin')).status).toBe(403);
    // Without agents, the sandbox also logs users in: for sign-in links and for their page.
    const open = () => service.app.get(AgentSettingsService, { strict: false }).countOpenSandboxes();
    expect((await settings({ ...loginPage, allowed_agents: 'off' }, 'admin')).status).toBe(303);
    expect(await open()).toBe(0);
    expect((await settings({ allowed_agents: 'off' }, 'admin')).status).toBe(403);
    expect((await settings({ allowed_agents: 'off' })).status).toBe(303);
    expect(await open()).toBe(1);
    expect((await settings({ sandbox_login: 'members' }, 'admin')).status).toBe(303);
    const page = await (
      await visitorWithRole(service, 'owner')
    ).get('/dashboard/development/agents/settings');
    expect(page.text).toContain('Who may log in as any test user');
  });
});

describe('The pages of the dashboard', () => {
  it('list and end connections', async () => {
    await agent.connect('shown');
    const { id } = await connectionOf('shown');
    const member = await visitorWithRole(service, 'member');
    const page = await member.get('/dashboard/development/agents?external_user_id=shown');
    expect(page.text).toContain('Test Agent (agent.example.com)');
    const path = `/dashboard/development/agents/connections/${id}/disconnect`;
    expect(await member.fill(path, {})).toMatchObject({
      status: 303,
      location: '/dashboard/development/agents?done=disconnected',
    });
    expect((await member.get('/dashboard/development/agents?external_user_id=shown')).text).toContain(
      'This customer has no connected agents',
    );
    expect((await member.get('/dashboard/development/agents?host=')).status).toBe(200);
    expect((await member.get('/dashboard/development/agents?limit=x')).status).toBe(400);
  });

  it('of one environment disconnect and remove no agents of the other', async () => {
    await agent.connect('elsewhere');
    const { id } = await connectionOf('elsewhere');
    const owner = await visitorWithRole(service, 'owner');
    const registered = await registerAgent(service, owner.login, 'Corporate Agent', REDIRECT_URI);
    for (const path of [`connections/${id}/disconnect`, `${registered}/remove`]) {
      await owner.get('/account');
      expect((await owner.get(`/dashboard/production/agents/${path}`)).status).toBe(404);
      expect((await owner.submit(`/dashboard/production/agents/${path}`)).status).toBe(404);
    }
    expect(await connectionOf('elsewhere')).toMatchObject({ id });
    expect((await owner.get('/dashboard/development/agents/settings')).text).toContain(registered);
    for (const path of [`connections/${id}/disconnect`, `${registered}/remove`])
      expect((await owner.fill(`/dashboard/development/agents/${path}`, {})).status).toBe(303);
  });

  it('let only admins and owners change the settings', async () => {
    const admin = await visitorWithRole(service, 'admin');
    const settings = '/dashboard/production/agents/settings';
    const form = { allowed_agents: 'hosts', allowed_hosts: 'claude.ai\nchatgpt.com', login_url: '' };
    expect((await admin.fill(settings, form)).location).toBe(`${settings}?done=saved`);
    expect((await admin.get(settings)).text).toContain('claude.ai\nchatgpt.com');
    expect((await admin.submit(settings, { ...form, allowed_hosts: 'X' })).status).toBe(400);
    const register = '/dashboard/production/agents/register';
    expect((await admin.fill(register, { name: 'X', redirect_uris: 'http://x' })).status).toBe(400);
    expect((await admin.submit(register, { name: 'Corporate', redirect_uris: REDIRECT_URI })).location).toBe(
      `${settings}?done=registered`,
    );
    const [, removal = ''] = /href="([^"]+\/remove)"/.exec((await admin.get(settings)).text) ?? [];
    expect((await admin.fill(removal, {})).location).toBe(`${settings}?done=removed`);
    const member = await visitorWithRole(service, 'member');
    expect((await member.get(settings)).text).not.toContain('Save settings');
    expect((await member.submit(settings, form)).status).toBe(403);
    const viewer = await visitorWithRole(service, 'viewer');
    expect((await viewer.get(settings)).status).toBe(403);
  });
});
