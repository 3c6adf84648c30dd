import type { DashboardActor } from '../../../src/infrastructure/auth/index.js';
import { HOUR, SECOND } from '../../../src/infrastructure/time/index.js';
import { ApiClientsService } from '../../../src/modules/api-clients/index.js';
import { auditedBy, auditEntries } from '../../support/logs/audited.js';
import { moveClock } from '../../support/clock.js';
import { renewLogins, submitForm } from '../../support/pages/dashboard-forms.js';
import { CREATE_MCP_TOKEN } from '../../support/documents/operations.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { useTestApp, type Login, useLogin } from '../../support/test-app.js';

const ROTATION_IN_PROGRESS =
  'A rotation is in progress: the previous secret is still accepted. A rotation with an overlap of 0 hours makes a third secret, and ends both others at once.';
const DAY_OF_OVERLAP = { overlap_hours: '24' };

const service = useTestApp();
const owner = useLogin(service, 'owner');
beforeEach(() => renewLogins(service));

/** Creates another organization, because a client can have only one rotation at a time. */
async function fresh(): Promise<{ login: Login; clientId: string; secret: string }> {
  const { id, development } = await service.anotherOrganization();
  return { login: await service.login('owner', id), ...development };
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly problem: string | undefined;
  readonly location: string | null;
  readonly secret: string;
}

const act = async (
  operation: 'view' | 'rotate' | 'activate' | 'rename',
  clientId: string,
  login = owner,
  fields: Record<string, string> = {},
): Promise<Answer> => {
  const environment = clientId === service.production.clientId ? 'production' : 'development';
  const path = `/dashboard/${environment}/api-credentials/${clientId}/${operation}`;
  const { text, ...response } = await submitForm(service, login, path, fields);
  const secret = /<code>(mcs_(?:dev|live)_[\w-]+)<\/code>/.exec(text)?.[1] ?? '';
  if (secret) rememberSecret(secret);
  return { ...response, secret };
};
const stateOf = async (clientId: string, { organizationId, userId, email }: Login) => {
  const actor = { organizationId, userId, email } as DashboardActor;
  const clients = service.app.get(ApiClientsService);
  const overviews = await Promise.all(
    (['development', 'production'] as const).map((each) =>
      clients.secretsOverview({ actor, environment: each }),
    ),
  );
  return overviews.find((overview) => overview?.client.id === clientId);
};
const statusWith = async (clientId: string, secret: string): Promise<number> => {
  const as = { clientId, secret, environment: 'development' } as const;
  return (await service.request(CREATE_MCP_TOKEN.path, { body: CREATE_MCP_TOKEN.body, as })).status;
};

describe('Naming a client', () => {
  it('leaves one audit log entry', async () => {
    const { clientId } = service.development;
    const rename = (name: string) => act('rename', clientId, owner, { name });
    const entries = await auditedBy(service, async () => {
      for (const each of [1, 2]) expect([each, (await rename('Café “Nord”')).status]).toEqual([each, 303]);
    });
    expect(entries).toEqual([`client.update success ${clientId}`]);
    for (const name of ['', ' ', 'x'.repeat(101)]) expect((await rename(name)).status).toBe(400);
    expect(await stateOf(clientId, owner)).toMatchObject({ client: { name: 'Café “Nord”' } });
  });
});

describe('Viewing a secret', () => {
  it('returns the current secret, with caching disabled', async () => {
    for (const { clientId, environment, secret } of [service.development, service.production]) {
      const response = await act('view', clientId);
      expect([response.status, response.secret]).toEqual([200, secret]);
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect((await auditEntries(service))[0]).toMatchObject({
        event: { action: 'secret.view', outcome: { status: 'success' } },
        target: { type: 'secret', name: clientId, environment },
      });
    }
  });

  it('returns the newest secret while two are accepted', async () => {
    const { login, clientId, secret } = await fresh();
    const rotated = await act('rotate', clientId, login, DAY_OF_OVERLAP);
    expect(rotated.secret).not.toBe(secret);
    expect((await act('view', clientId, login)).secret).toBe(rotated.secret);
  });
});

describe('Rotating a secret', () => {
  it('returns a new secret, and accepts the old one for another day', async () => {
    const { login, clientId, secret: old } = await fresh();
    const { status, headers, secret } = await act('rotate', clientId, login, DAY_OF_OVERLAP);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(secret).toMatch(/^mcs_dev_[0-9A-Za-z]{49}$/);
    expect([await statusWith(clientId, old), await statusWith(clientId, secret)]).toEqual([200, 200]);
    const state = await stateOf(clientId, login);
    expect(state).toMatchObject({ newestVersion: 2, signingVersion: 1 });
    const left = (state?.overlapEndsAt?.getTime() ?? 0) - Date.now();
    expect(left / HOUR).toBeCloseTo(24, 1);
    {
      using _clock = moveClock(service, 24 * HOUR - 10 * SECOND);
      expect([await statusWith(clientId, old), await statusWith(clientId, secret)]).toEqual([200, 200]);
    }
    using _clock = moveClock(service, 24 * HOUR + SECOND);
    await service.database.query(`UPDATE dashboard_session SET expires_at = '2100-01-01'`);
    expect([await statusWith(clientId, old), await statusWith(clientId, secret)]).toEqual([401, 200]);
    expect(await stateOf(clientId, login)).toMatchObject({
      newestVersion: 2,
      signingVersion: 2,
      overlapEndsAt: null,
    });
  });

  it('accepts the given overlap, including zero after a leak', async () => {
    const { login, clientId, secret: old } = await fresh();
    const { secret } = await act('rotate', clientId, login, { overlap_hours: '0' });
    expect(await statusWith(clientId, old)).toBe(401);
    expect(await statusWith(clientId, secret)).toBe(200);
    expect(await stateOf(clientId, login)).toMatchObject({
      signingVersion: 2,
      overlapEndsAt: null,
    });
    expect((await act('rotate', clientId, login, { overlap_hours: '168' })).status).toBe(200);
    const left = ((await stateOf(clientId, login))?.overlapEndsAt?.getTime() ?? 0) - Date.now();
    expect(left / HOUR).toBeCloseTo(168, 1);
  });

  it('keeps only the secrets with which webhooks in progress may be signed', async () => {
    const { login, clientId } = await fresh();
    for (let rotation = 0; rotation < 4; rotation += 1)
      await act('rotate', clientId, login, { overlap_hours: '0' });
    const rows = await service.database.query(
      'SELECT version FROM api_secret WHERE client_id = $1 ORDER BY version',
      [clientId],
    );
    expect(rows).toEqual([{ version: 3 }, { version: 4 }, { version: 5 }]);
    await act('rotate', clientId, login, DAY_OF_OVERLAP);
    expect(await stateOf(clientId, login)).toMatchObject({ newestVersion: 6, signingVersion: 5 });
  });

  it('accepts exactly 1 of 20 concurrent rotations, and records it once', async () => {
    const { clientId, secret: old } = service.production;
    const entries = await auditedBy(service, async () => {
      const responses = await Promise.all(
        Array.from({ length: 20 }, () => act('rotate', clientId, owner, DAY_OF_OVERLAP)),
      );
      expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
      for (const { status, problem } of responses.filter((response) => response.status !== 200))
        expect([status, problem]).toEqual([400, ROTATION_IN_PROGRESS]);
      for (const accepted of [responses.find(({ status }) => status === 200)?.secret, old])
        expect(await statusWith(clientId, accepted ?? '')).toBe(200);
    });
    expect(entries).toEqual([`secret.rotate success ${clientId}`]);
    const rows = await service.database.query(
      'SELECT version FROM api_secret WHERE client_id = $1 ORDER BY version',
      [clientId],
    );
    expect(rows).toEqual([{ version: 1 }, { version: 2 }]);
  });

  it.each([
    ['must be an integer.', ['0.5', 'a']],
    ['must be at least 0.', ['-1']],
    ['must not be greater than 168.', ['169']],
  ])('rejects an invalid overlap: %s', async (message, values) => {
    for (const overlap_hours of values) {
      const { clientId } = service.development;
      const { status, problem } = await act('rotate', clientId, owner, { overlap_hours });
      expect([status, problem]).toEqual([400, expect.stringContaining(message)]);
      expect(await stateOf(clientId, owner)).toMatchObject({ newestVersion: 1 });
    }
  });
});

describe('Activating a secret', () => {
  it('makes the newest secret sign webhooks, once', async () => {
    const { login, clientId } = await fresh();
    const before = await stateOf(clientId, login);
    expect((await act('activate', clientId, login)).status).toBe(303);
    expect(await stateOf(clientId, login)).toEqual(before);
    await act('rotate', clientId, login, DAY_OF_OVERLAP);
    await act('activate', clientId, login);
    const activated = await stateOf(clientId, login);
    expect(activated).toMatchObject({ newestVersion: 2, signingVersion: 2 });
    // The old secret is still accepted.
    expect(activated?.overlapEndsAt).not.toBeNull();
    expect((await act('activate', clientId, login)).status).toBe(303);
    expect(await stateOf(clientId, login)).toEqual(activated);
  });
});
