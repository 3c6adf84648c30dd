import { request as sendRequest } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { eventually } from '../support/eventually.js';
import { useTestApp, type Login, type TestApp, type TestResponse } from '../support/test-app.js';
import { startReceiver } from '../support/webhook-receiver.js';

/** More than the connections of a process. */
const CONCURRENT = 30;

const service = useTestApp({ SESSION_OPENS_PER_MINUTE: '1000000', WEBHOOK_TARGETS: 'any' });

/** Holds a lock in a transaction while the requests wait for it, and the requests of others must get responses. */
async function whileLocked(
  lock: string,
  values: unknown[],
  request: () => Promise<TestResponse>,
): Promise<TestResponse[]> {
  const connection = new pg.Client({ connectionString: service.database.url });
  await connection.connect();
  try {
    await connection.query('BEGIN');
    await connection.query(lock, values);
    const waiting = Promise.all(Array.from({ length: CONCURRENT }, request));
    await eventually('a request waits for the lock', async () => (await waitingConnections()) > 0);
    expect(await createSession((await service.anotherOrganization()).production)).toMatchObject({
      status: 200,
    });
    expect(await waitingConnections()).toBeLessThanOrEqual(5);
    await connection.query('COMMIT');
    return await waiting;
  } finally {
    await connection.end();
  }
}

async function waitingConnections(): Promise<number> {
  const [row] = await service.database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return row?.count ?? 0;
}

const createSession = (as: TestApp['production']): Promise<TestResponse> =>
  service.request('/session/create', { body: { type: 'link', external_user_id: 'user-1' }, as });

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
    expect(responses.map((response) => response.status)).toEqual(Array(CONCURRENT).fill(status));
  });
});

describe('Changes of an organization in the dashboard', () => {
  const PLACES = 5;
  const SEVERAL = PLACES + 1;

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
    await receiver.arrived(PLACES);
    const added = await Promise.race([addEndpoint(login, 'https://hooks.example.com/fast'), pause(5_000)]);
    await receiver.close();
    await Promise.all(tests);
    expect(added).toEqual(expect.any(String));
  });
});
