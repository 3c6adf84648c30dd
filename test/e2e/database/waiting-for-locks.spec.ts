import { randomUUID } from 'node:crypto';
import { request as sendRequest } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { DashboardActor } from '../../../src/infrastructure/auth/index.js';
import { dayOfSecret, sha256 } from '../../../src/infrastructure/crypto/index.js';
import { advisoryLockKey } from '../../../src/infrastructure/database/index.js';
import { McpTokensBatch } from '../../../src/modules/mcp-tokens/mcp-tokens.batch.js';
import { MerchantsService } from '../../../src/modules/merchants/index.js';
import { RefusedLogin } from '../../../src/modules/single-sign-on/identity-provider.js';
import {
  SsoUsersService,
  type Person,
} from '../../../src/modules/single-sign-on/logins/sso-users.service.js';
import type { SsoConfiguration } from '../../../src/modules/single-sign-on/sso-configuration.entity.js';
import { exampleEvent, WebhookPublisher } from '../../../src/modules/webhooks/index.js';
import { eventually } from '../../support/eventually.js';
import { newLink } from '../../support/merchants/sign-in-links.js';
import { useTestApp, type Login, type TestApp, type TestResponse } from '../../support/test-app.js';
import { startReceiver } from '../../support/webhooks/webhook-receiver.js';

/** More than the connections of a process. */
const CONCURRENT = 30;

const service = useTestApp({ SESSION_OPENS_PER_MINUTE: '1000000', WEBHOOK_TARGETS: 'any' });

const createSession = (as: TestApp['production']): Promise<TestResponse> =>
  service.request('/session/create', { body: { type: 'link', external_user_id: 'user-1' }, as });

/** Holds a lock in a transaction while the requests wait for it, and the requests of others must get responses. */
async function whileLocked(
  lock: string,
  values: unknown[],
  request: () => Promise<TestResponse>,
  connections = 5,
  requestOfOthers = createSession,
): Promise<TestResponse[]> {
  const connection = new pg.Client({ connectionString: service.database.url });
  await connection.connect();
  try {
    await connection.query('BEGIN');
    await connection.query(lock, values);
    const waiting = Promise.all(Array.from({ length: CONCURRENT }, request));
    await eventually('a request waits for the lock', async () => (await waitingConnections()) > 0);
    const { production } = await service.anotherOrganization();
    expect(await requestOfOthers(production)).toMatchObject({ status: 200 });
    expect(await waitingConnections()).toBeLessThanOrEqual(connections);
    await connection.query('COMMIT');
    return await waiting;
  } finally {
    await connection.end();
  }
}

async function deadlocks(): Promise<string | undefined> {
  const [row] = await service.database.query<{ deadlocks: string }>(
    'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
  );
  return row?.deadlocks;
}

async function waitingConnections(): Promise<number> {
  const [row] = await service.database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return row?.count ?? 0;
}

describe('Concurrent requests that wait for the same lock', () => {
  it.each([
    ['POST /session/open', '/session/open', false],
    ['POST /session/extend', '/session/extend', true],
  ])('leave database connections for other requests: %s', async (_operation, path, isAuthenticated) => {
    const { session } = (await createSession(service.production)).body;
    const responses = await whileLocked('SELECT FROM session WHERE id = $1 FOR UPDATE', [session], () =>
      service.request(path, {
        body: { session_id: session, ...(isAuthenticated ? {} : { metadata: { order: '4711' } }) },
        ...(isAuthenticated && { as: service.production }),
      }),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(CONCURRENT).fill(200));
  });

  it('leave database connections for other requests: POST /webhook-endpoints/create', async () => {
    const login = await service.login();
    let number = 0;
    const responses = await whileLocked('LOCK TABLE webhook_endpoint IN SHARE ROW EXCLUSIVE MODE', [], () =>
      service.request('/webhook-endpoints/create', {
        body: { environment: 'production', url: `https://hooks.example.com/${(number += 1)}` },
        login,
      }),
    );
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(statuses.filter((status) => status === 409)).toHaveLength(CONCURRENT - 10);
  });

  it.each([
    ['merchant', '/merchants'],
    ['audit_log', '/audit_logs'],
    ['agent_connection', '/agent-connections'],
    ['customer', '/dashboard/production/customers?search=user'],
    ['session', '/dashboard/production/external-users?external_user_id=user-1'],
    ['mcp_token', '/dashboard/production/external-users?external_user_id=user-1'],
  ])('leave database connections for other requests: lists of the table %s', async (table, path) => {
    const isPage = path.startsWith('/dashboard/');
    const as = isPage ? { login: await service.login() } : { as: service.production };
    const responses = await whileLocked(
      `LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`,
      [],
      () => service.request(path, as),
      2,
      (other) => service.request(table === 'merchant' ? '/audit_logs' : '/merchants', { as: other }),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(CONCURRENT).fill(200));
  });

  it('leave database connections for other requests: GET /webhook-events', async () => {
    const others = await Promise.all([1, 2, 3].map(() => service.anotherOrganization()));
    let number = 0;
    const responses = await whileLocked('LOCK TABLE webhook_event IN ACCESS EXCLUSIVE MODE', [], () => {
      const as = others[(number += 1) % others.length]?.production ?? service.production;
      return service.request('/webhook-events?event=CARD_UPDATED', { as });
    });
    expect(responses.map(({ status }) => status)).toEqual(Array(CONCURRENT).fill(200));
  });

  it('wait with one connection: POST /sign-in-links/{id}/cancel and POST /external-users/erase', async () => {
    const links = await Promise.all(Array.from({ length: CONCURRENT / 2 + 1 }, () => newLink(service)));
    const cancel = () => {
      const path = `/sign-in-links/${links.pop()?.id}/cancel`;
      return service.request(path, { body: {}, as: service.development });
    };
    // The first entry creates the chain.
    expect((await cancel()).status).toBe(200);
    const chain = 'SELECT FROM audit_chain WHERE organization_id = $1 FOR UPDATE';
    let number = 0;
    const request = () => {
      if ((number += 1) % 2 === 0) return cancel();
      const body = { external_user_id: `user-${number}` };
      return service.request('/external-users/erase', { body, as: service.development });
    };
    const responses = await whileLocked(chain, [service.organizationId], request, 1);
    const half = CONCURRENT / 2;
    expect(responses.map(({ status }) => status).toSorted()).toEqual([
      ...Array(half).fill(200),
      ...Array(half).fill(202),
    ]);
  });

  it('do not occupy the queue after their clients have disconnected', async () => {
    const login = await service.login();
    const create = (path: string, signal?: AbortSignal) =>
      fetch(`${service.baseUrl}/webhook-endpoints/create`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', cookie: login.cookie },
        body: JSON.stringify({ environment: 'development', url: `https://hooks.example.com/${path}` }),
        ...(signal && { signal }),
      });
    const connection = new pg.Client({ connectionString: service.database.url });
    await connection.connect();
    await connection.query('BEGIN; LOCK TABLE webhook_endpoint IN SHARE ROW EXCLUSIVE MODE');
    const disconnecting = new AbortController();
    const waiting = Array.from({ length: CONCURRENT }, (_, index) =>
      create(String(index), disconnecting.signal),
    );
    await eventually('requests wait for the lock', async () => (await waitingConnections()) > 0);
    await pause(200);
    disconnecting.abort();
    await Promise.allSettled(waiting);
    await connection.query('COMMIT');
    await connection.end();
    expect((await create('after')).status).toBe(200);
  });

  it.each<[string, (viewer: Login) => Promise<Response>, number]>([
    [
      'denied requests',
      ({ cookie }) =>
        fetch(`${service.baseUrl}/webhook-endpoints/create`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', cookie },
          body: '{}',
        }),
      403,
    ],
    [
      'exports of a page',
      ({ cookie }) =>
        fetch(`${service.baseUrl}/dashboard/audit-log/export/csv`, {
          headers: { cookie },
          redirect: 'manual',
        }),
      200,
    ],
  ])('leave database connections for other requests: %s', async (_what, send, status) => {
    const login = await service.login(status === 403 ? 'viewer' : 'owner');
    // The first entry creates the chain.
    expect((await send(login)).status).toBe(status);
    const responses = await whileLocked(
      'SELECT FROM audit_chain WHERE organization_id = $1 FOR UPDATE',
      [service.organizationId],
      async () => ({ status: (await send(login)).status }) as TestResponse,
    );
    // An organization runs two exports at a time.
    const served = status === 200 ? 2 : CONCURRENT;
    const expected = Array.from({ length: CONCURRENT }, (_, index) => (index < served ? status : 429));
    expect(responses.map((response) => response.status).toSorted()).toEqual(expected);
  });
});

describe('Changes of an organization in the dashboard', () => {
  const PLACES = 5;
  const SEVERAL = PLACES + 1;
  const CONCURRENT_TESTS = 3;

  const addEndpoint = async (login: Login, url: string): Promise<string> => {
    const body = { environment: 'development', url };
    const created = await service.request('/webhook-endpoints/create', { body, login });
    expect(created.status).toBe(200);
    return String(created.body['id']);
  };

  it('do not wait for bodies that arrive slowly', async () => {
    const { id: organizationId } = await service.anotherOrganization();
    const login = await service.login('owner', organizationId);
    const slow = Array.from({ length: SEVERAL }, () => {
      const request = sendRequest(`${service.baseUrl}/webhook-endpoints/create`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': 100, cookie: login.cookie },
      });
      request.on('error', () => undefined);
      request.write('{');
      return request;
    });
    await pause(500);
    const added = await Promise.race([addEndpoint(login, 'https://hooks.example.com/fast'), pause(5_000)]);
    for (const request of slow) request.destroy();
    expect(added).toEqual(expect.any(String));
  });

  it('do not wait for tests of endpoints that do not respond', async () => {
    const { id: organizationId } = await service.anotherOrganization();
    const login = await service.login('owner', organizationId);
    const receiver = await startReceiver();
    receiver.response = () => undefined;
    const id = await addEndpoint(login, receiver.url);
    const tests = Array.from({ length: SEVERAL }, () =>
      service.request(`/webhook-endpoints/${id}/test`, { body: {}, login }),
    );
    await receiver.arrived(CONCURRENT_TESTS);
    const added = await Promise.race([addEndpoint(login, 'https://hooks.example.com/fast'), pause(5_000)]);
    await receiver.close();
    await Promise.all(tests);
    expect(added).toEqual(expect.any(String));
  });

  it.each<[string, string, string, object | undefined]>([
    ['PATCH', 'changed', '', { url: 'https://hooks.example.com/moved', status: 'paused' }],
    ['DELETE', 'deleted', '', undefined],
    ['POST', 'given another key', '/rotate-key', { signing: 'hmac' }],
    ['POST', 'recovered', '/recover', { since: '2026-01-31T08:00:00Z' }],
  ])('do not let publishers wait: %s, an endpoint that is %s', async (method, _what, path, body) => {
    const { id: organizationId, development } = await service.anotherOrganization();
    const login = await service.login('owner', organizationId);
    const id = await addEndpoint(login, 'https://hooks.example.com/published');
    const connection = new pg.Client({ connectionString: service.database.url });
    await connection.connect();
    await connection.query('BEGIN');
    await connection.query('SELECT FROM audit_chain WHERE organization_id = $1 FOR UPDATE', [organizationId]);
    const request = { method, login, ...(body && { body }) } as const;
    const changed = service.request(`/webhook-endpoints/${id}${path}`, request);
    await eventually('the change waits', async () => (await waitingConnections()) > 0);
    const client = { clientId: development.clientId, environment: 'development' } as const;
    const publishing = service.app.get(WebhookPublisher).publish(client, exampleEvent('CARD_UPDATED'));
    const isOver = await Promise.race([publishing.then(() => true), pause(5_000, false)]);
    await connection.query('COMMIT');
    await connection.end();
    await publishing;
    expect([isOver, (await changed).status]).toEqual([true, path === '/recover' ? 202 : 200]);
  });

  it.each(['recover', 'redeliver'])('do not deadlock: the deletion of an endpoint and %s', async (verb) => {
    const { id: organizationId, development } = await service.anotherOrganization();
    const login = await service.login('owner', organizationId);
    const id = await addEndpoint(login, 'https://hooks.example.com/deleted');
    const client = { clientId: development.clientId, environment: 'development' } as const;
    const event_id = await service.app.get(WebhookPublisher).publish(client, exampleEvent('CARD_UPDATED'));
    await service.database.query(`UPDATE webhook_delivery SET due_at = 'infinity' WHERE event_id = $1`, [
      event_id,
    ]);
    const before = await deadlocks();
    const connection = new pg.Client({ connectionString: service.database.url });
    await connection.connect();
    await connection.query('BEGIN');
    await connection.query('SELECT FROM audit_chain WHERE organization_id = $1 FOR UPDATE', [organizationId]);
    const deleted = service.request(`/webhook-endpoints/${id}`, { method: 'DELETE', login });
    await eventually('the deletion waits', async () => (await waitingConnections()) === 1);
    const body = verb === 'recover' ? { since: '2026-01-31T08:00:00Z' } : { event_id };
    const sent = service.request(`/webhook-endpoints/${id}/${verb}`, { body, login });
    await eventually('both wait', async () => (await waitingConnections()) === 2);
    await connection.query('COMMIT');
    await connection.end();
    expect([(await deleted).status, (await sent).status]).toEqual([200, 404]);
    // A session reports its statistics at most once a second.
    await pause(1_500);
    expect(await deadlocks()).toBe(before);
  });

  it('do not deadlock: two users who hide several merchants', async () => {
    const { id: organizationId } = await service.anotherOrganization();
    const merchants = service.app.get(MerchantsService);
    const login = await service.login('owner', organizationId);
    const [session] = await service.database.query<{ id: string }>(
      'SELECT id FROM dashboard_session WHERE user_id = $1',
      [login.userId],
    );
    const actor = {
      ...login,
      name: 'Ada',
      role: 'owner',
      credential: { kind: 'session', sessionId: session?.id },
      origin: { ip: '192.0.2.1', userAgent: 'test' },
    } as unknown as DashboardActor;
    // The first entry creates the chain.
    await merchants.setHidden(actor, '9', 'development', true);
    const before = await deadlocks();
    const connection = new pg.Client({ connectionString: service.database.url });
    await connection.connect();
    await connection.query('BEGIN');
    await connection.query('SELECT FROM audit_chain WHERE organization_id = $1 FOR UPDATE', [organizationId]);
    const hidden = [];
    for (const ids of [
      ['1', '2'],
      ['2', '3'],
    ]) {
      hidden.push(merchants.hideAll(actor, ids, 'development'));
      await eventually('it waits', async () => (await waitingConnections()) === hidden.length);
    }
    await connection.query('COMMIT');
    await connection.end();
    await Promise.all(hidden);
    // A session reports its statistics at most once a second.
    await pause(1_500);
    expect(await deadlocks()).toBe(before);
  });

  it('leave database connections for other requests: first logins at an identity provider', async () => {
    const people = service.app.get(SsoUsersService, { strict: false });
    const { organizationId } = service;
    const configuration = { id: randomUUID(), organizationId, revision: 1 } as SsoConfiguration;
    const provision = (): Promise<unknown> =>
      people
        .provision(configuration, {} as never, { user: {} } as Person, {} as never, () => Promise.resolve())
        .catch((error: unknown) => error);
    const responses = await whileLocked(
      'SELECT pg_advisory_xact_lock($1)',
      [advisoryLockKey(`dashboard-users:${organizationId}`)],
      provision as () => Promise<TestResponse>,
    );
    for (const each of responses) expect(each).toBeInstanceOf(RefusedLogin);
  });

  it('do not wait for the token of another agent that is being erased', async () => {
    const batch = service.app.get(McpTokensBatch, { strict: false });
    const create = async (): Promise<{ tokenHash: Buffer; day: Date }> => {
      const { body } = await service.request<{ token: string }>('/mcp/tokens/create', {
        body: { external_user_id: 'user-1' },
        as: service.production,
      });
      return { tokenHash: sha256(body.token), day: dayOfSecret(body.token) };
    };
    const [erased, other] = [await create(), await create()];
    const connection = new pg.Client({ connectionString: service.database.url });
    await connection.connect();
    await connection.query('BEGIN');
    await connection.query('SELECT FROM mcp_token WHERE token_hash = $1 FOR UPDATE', [erased.tokenHash]);
    const usedAt = new Date();
    const uses = Promise.all([erased, other].map((each) => batch.firstUses.add({ ...each, usedAt })));
    const isOver = await Promise.race([uses.then(() => true), pause(5_000, false)]);
    await connection.query('COMMIT');
    await connection.end();
    await uses;
    expect(isOver).toBe(true);
    const used = () =>
      service.database.query('SELECT FROM mcp_token WHERE token_hash = ANY ($1) AND used_at IS NOT NULL', [
        [erased.tokenHash, other.tokenHash],
      ]);
    expect(await used()).toHaveLength(1);
    await batch.firstUses.add({ ...erased, usedAt });
    expect(await used()).toHaveLength(2);
  });
});
