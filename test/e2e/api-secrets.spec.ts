import { HOUR, MINUTE } from '../../src/infrastructure/time/index.js';
import { ApiClientsService } from '../../src/modules/api-clients/index.js';
import { auditedBy, auditEntries } from '../support/audited.js';
import { moveClock } from '../support/clock.js';
import { CREATE_MCP_TOKEN } from '../support/operations.js';
import { rememberSecret } from '../support/run-directory.js';
import {
  error,
  invalidField,
  startTestApp,
  type TestResponse,
  type Login,
  type TestApp,
} from '../support/test-app.js';

const STALE = error(
  'INVALID_INPUT',
  'INVALID_ACCESS_TOKEN',
  'Log in again: this operation requires a login within the last 5 minutes.',
);
const ROTATION_IN_PROGRESS = invalidField(
  'A rotation is in progress: the previous secret is still accepted. An overlap of 0 hours ends it at once.',
);

interface Client {
  readonly client_id: string;
  readonly newest_secret_version: number;
  readonly signing_secret_version: number;
  readonly overlap_ends_at: string | null;
}

let service: TestApp;
let owner: Login;

beforeAll(async () => {
  service = await startTestApp({ DATABASE_CONNECT_TIMEOUT_MS: '10000' });
  owner = await service.login('owner');
});
afterAll(() => service.close());

/** Creates another organization, because a client can have only one rotation at a time. */
async function fresh(): Promise<{ login: Login; clientId: string; secret: string }> {
  const { id, development } = await service.anotherOrganization();
  return { login: await service.login('owner', id), ...development };
}

const act = async (
  operation: 'view' | 'rotate' | 'activate',
  clientId: string,
  login = owner,
  body?: unknown,
): Promise<TestResponse> => {
  const path = `/api-clients/${clientId}/secret/${operation}`;
  const response = await service.request(path, {
    method: 'POST',
    login,
    ...(body === undefined ? {} : { body }),
  });
  if (response.body['secret']) rememberSecret(String(response.body['secret']));
  return response;
};
const stateOf = async (clientId: string, login: Login): Promise<Client | undefined> => {
  const { body } = await service.request<Client[]>('/api-clients', { login });
  return body.find(({ client_id }) => client_id === clientId);
};
const statusWith = async (clientId: string, secret: string): Promise<number> => {
  const as = { clientId, secret, environment: 'development' } as const;
  return (await service.request(CREATE_MCP_TOKEN.path, { body: CREATE_MCP_TOKEN.body, as })).status;
};

describe('GET /api-clients', () => {
  it('lists the clients without their secrets, to every user', async () => {
    const { headers, body } = await service.request<Client[]>('/api-clients', {
      login: await service.login('member'),
    });
    expect(body).toEqual(
      [service.development, service.production].map(({ clientId, environment }) => ({
        client_id: clientId,
        environment,
        name: null,
        enabled_operations: [],
        created_at: expect.any(String) as string,
        newest_secret_version: 1,
        signing_secret_version: 1,
        overlap_ends_at: null,
      })),
    );
    expect(JSON.stringify([body, ...headers])).not.toMatch(/mcs_/);
  });
});

describe('PATCH /api-clients/{client_id}', () => {
  it('names a client, which leaves one audit log entry', async () => {
    const { clientId } = service.development;
    const rename = (name: unknown) =>
      service.request(`/api-clients/${clientId}`, { method: 'PATCH', login: owner, body: { name } });
    const entries = await auditedBy(service, async () => {
      for (const each of [1, 2]) {
        const { status, body } = await rename('Café “Nord”');
        expect([each, status, body['name']]).toEqual([each, 200, 'Café “Nord”']);
      }
    });
    expect(entries).toEqual([`client.update success ${clientId}`]);
    expect(await stateOf(clientId, owner)).toMatchObject({ name: 'Café “Nord”' });
    for (const name of ['', ' ', 'x'.repeat(101), null, 7]) expect((await rename(name)).status).toBe(400);
    expect(await stateOf(clientId, owner)).toMatchObject({ name: 'Café “Nord”' });
  });
});

describe('Viewing a secret', () => {
  it('returns the current secret, with caching disabled', async () => {
    for (const { clientId, environment, secret } of [service.development, service.production]) {
      const { status, headers, body } = await act('view', clientId);
      expect([status, body]).toEqual([200, { client_id: clientId, environment, secret }]);
      expect(headers.get('cache-control')).toBe('no-store');
      expect((await auditEntries(service))[0]).toMatchObject({
        event: { action: 'secret.view', outcome: { status: 'success' } },
        target: { type: 'secret', name: clientId, environment },
      });
    }
  });

  it('returns the newest secret while two are accepted', async () => {
    const { login, clientId, secret } = await fresh();
    const rotated = await act('rotate', clientId, login, {});
    expect(rotated.body['secret']).not.toBe(secret);
    expect((await act('view', clientId, login)).body).toEqual(rotated.body);
  });
});

describe('A login older than five minutes', () => {
  it.each(['view', 'rotate', 'activate'] as const)(
    'is not recent enough to %s a secret',
    async (operation) => {
      const { clientId } = service.development;
      using _clock = moveClock(service, 5 * MINUTE + 1_000);
      const before = await stateOf(clientId, owner);
      const { status, headers, body } = await act(operation, clientId, owner, {});
      expect([status, body]).toEqual([401, STALE]);
      expect(headers.get('www-authenticate')).toMatch(
        /error="insufficient_user_authentication", max_age=300/,
      );
      expect((await auditEntries(service))[0]).toMatchObject({
        event: {
          action: operation === 'view' ? 'secret.view' : 'secret.rotate',
          outcome: { status: 'denied' },
        },
        actor: { email: owner.email },
        target: { type: 'secret', name: clientId, environment: 'development' },
      });
      expect(await stateOf(clientId, owner)).toEqual(before);
    },
  );

  it('may list the clients', async () => {
    using _clock = moveClock(service, 5 * MINUTE + 1_000);
    expect((await service.request('/api-clients', { login: owner })).status).toBe(200);
  });
});

describe('Rotating a secret', () => {
  it('returns a new secret, and accepts the old one for another day', async () => {
    const { login, clientId, secret: old } = await fresh();
    const { status, headers, body } = await act('rotate', clientId, login, {});
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    const secret = String(body['secret']);
    expect(secret).toMatch(/^mcs_dev_[0-9A-Za-z]{49}$/);
    expect([await statusWith(clientId, old), await statusWith(clientId, secret)]).toEqual([200, 200]);
    const state = await stateOf(clientId, login);
    expect(state).toMatchObject({ newest_secret_version: 2, signing_secret_version: 1 });
    const left = Date.parse(state?.overlap_ends_at ?? '') - Date.now();
    expect(left / HOUR).toBeCloseTo(24, 1);

    using _clock = moveClock(service, 24 * HOUR + MINUTE);
    await service.database.query(`UPDATE dashboard_session SET expires_at = '2100-01-01'`);
    expect([await statusWith(clientId, old), await statusWith(clientId, secret)]).toEqual([401, 200]);
    expect(await stateOf(clientId, login)).toMatchObject({
      newest_secret_version: 2,
      signing_secret_version: 2,
      overlap_ends_at: null,
    });
  });

  it('accepts the given overlap, including zero after a leak', async () => {
    const { login, clientId, secret: old } = await fresh();
    const { body } = await act('rotate', clientId, login, { overlap_hours: 0 });
    expect(await statusWith(clientId, old)).toBe(401);
    expect(await statusWith(clientId, String(body['secret']))).toBe(200);
    expect(await stateOf(clientId, login)).toMatchObject({
      signing_secret_version: 2,
      overlap_ends_at: null,
    });
    expect((await act('rotate', clientId, login, { overlap_hours: 168 })).status).toBe(200);
    const left = Date.parse((await stateOf(clientId, login))?.overlap_ends_at ?? '') - Date.now();
    expect(left / HOUR).toBeCloseTo(168, 1);
  });

  it('is rejected during another rotation, unless the overlap is zero', async () => {
    const { login, clientId } = await fresh();
    expect((await act('rotate', clientId, login, {})).status).toBe(200);
    const { status, body } = await act('rotate', clientId, login, { overlap_hours: 1 });
    expect([status, body]).toEqual([400, ROTATION_IN_PROGRESS]);
    expect(await stateOf(clientId, login)).toMatchObject({ newest_secret_version: 2 });
    expect((await act('rotate', clientId, login, { overlap_hours: 0 })).status).toBe(200);
  });

  it('accepts exactly 1 of 20 concurrent rotations, and records it once', async () => {
    const { clientId } = service.production;
    const entries = await auditedBy(service, async () => {
      const responses = await Promise.all(
        Array.from({ length: 20 }, () => act('rotate', clientId, owner, {})),
      );
      expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
      for (const { status, body } of responses.filter((response) => response.status !== 200))
        expect([status, body]).toEqual([400, ROTATION_IN_PROGRESS]);
    });
    expect(entries).toEqual([`secret.rotate success ${clientId}`]);
  });

  it.each<[string, unknown]>([
    ['The overlap hours field must be an integer.', '24'],
    ['The overlap hours field must be an integer.', 0.5],
    ['The overlap hours field must be an integer.', true],
    ['The overlap hours field must be at least 0.', -1],
    ['The overlap hours field must not be greater than 168.', 169],
  ])('rejects an invalid overlap: %s', async (message, overlap_hours) => {
    const { status, body } = await act('rotate', service.development.clientId, owner, { overlap_hours });
    expect([status, body]).toEqual([400, invalidField(message)]);
    expect(await stateOf(service.development.clientId, owner)).toMatchObject({ newest_secret_version: 1 });
  });

  it('uses an overlap of one day without a body', async () => {
    const { login, clientId } = await fresh();
    expect((await act('rotate', clientId, login)).status).toBe(200);
  });
});

describe('Activating a secret', () => {
  it('makes the newest secret sign webhooks, once', async () => {
    const { login, clientId } = await fresh();
    const before = await stateOf(clientId, login);
    expect((await act('activate', clientId, login)).body).toEqual(before);
    await act('rotate', clientId, login, {});
    const { body } = await act('activate', clientId, login);
    expect(body).toMatchObject({ newest_secret_version: 2, signing_secret_version: 2 });
    // The old secret is still accepted.
    expect(body['overlap_ends_at']).not.toBeNull();
    expect((await act('activate', clientId, login)).body).toEqual(body);
    expect(await stateOf(clientId, login)).toEqual(body);
  });

  it('reports the same errors to operators', async () => {
    const clients = service.app.get(ApiClientsService);
    const { clientId } = (await service.anotherOrganization()).development;
    rememberSecret((await clients.rotateSecret(clientId)).secret);
    await expect(clients.rotateSecret(clientId)).rejects.toThrow(/^A rotation is in progress/);
    await expect(clients.rotateSecret('nobody')).rejects.toThrow('There is no API client nobody.');
  });
});
