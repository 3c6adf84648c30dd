import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DASHBOARD_ROLES, SCOPES, type Scope } from '../../src/infrastructure/auth/index.js';
import { exampleEvent, WebhookPublisher } from '../../src/modules/webhooks/index.js';
import { acceptAccessTokens } from '../support/access-tokens.js';
import { auditEntries } from '../support/audited.js';
import { moveClock } from '../support/clock.js';
import {
  DASHBOARD_OPERATIONS,
  UNKNOWN_ID,
  PNG,
  type TestedDashboardOperation,
} from '../support/operations.js';
import { LoginAgent } from '../support/agent-logins.js';
import { samlMetadata } from '../support/saml.js';
import { NETFLIX, newLink } from '../support/sign-in-links.js';
import {
  error,
  startTestApp,
  type TestResponse,
  type RequestOptions,
  type Login,
  type TestApp,
} from '../support/test-app.js';
import { Visitor } from '../support/visitor.js';

const INSUFFICIENT_ROLE = error(
  'INVALID_REQUEST',
  'INSUFFICIENT_ROLE',
  'Your role does not allow this. Ask an owner or an admin of your organization.',
);
const INSUFFICIENT_SCOPE = error(
  'INVALID_REQUEST',
  'INSUFFICIENT_SCOPE',
  'This operation does not accept access tokens: log in to the dashboard.',
);
const missingScope = (scope: Scope) =>
  error('INVALID_REQUEST', 'INSUFFICIENT_SCOPE', `The access token lacks the scope ${scope}.`);
const INVALID_ACCESS_TOKEN = error('INVALID_INPUT', 'INVALID_ACCESS_TOKEN', 'The access token is not valid.');
const USER_AGENT = 'Tests of the dashboard';

let service: TestApp;
let owner: Login;
let admin: Login;
let member: Login;
let viewer: Login;
/** The owner of another organization. */
let otherOwner: Login;
let tokenOf: (login: Login, scopes?: readonly Scope[]) => Promise<string>;

beforeAll(async () => {
  service = await startTestApp({ DASHBOARD_REQUESTS_PER_MINUTE: '1000000' });
  owner = await service.login('owner');
  admin = await service.login('admin');
  member = await service.login('member');
  viewer = await service.login('viewer');
  const { id } = await service.anotherOrganization();
  otherOwner = await service.login('owner', id);
  tokenOf = acceptAccessTokens(service);
});
afterAll(() => service.close());

const send = (
  { path, method, body }: { path: string; method: string; body?: unknown },
  options: RequestOptions,
): Promise<TestResponse> =>
  service.request(path, {
    method,
    ...(body === undefined ? {} : { body }),
    ...options,
    headers: { 'user-agent': USER_AGENT, ...options.headers },
  });

/** Returns a hash of each table that operations can change. */
async function everything(): Promise<Record<string, unknown>> {
  const tables = [
    'organization',
    'dashboard_user',
    'dashboard_session',
    'access_grant',
    'allowlisted_domain',
    'saml_configuration',
    'merchant_visibility',
    'api_client',
    'api_secret',
    'sign_in_link',
    'webhook_endpoint',
    'webhook_delivery',
    'webhook_recovery',
    'audit_log',
  ];
  const state: Record<string, unknown> = { mails: mails() };
  for (const table of tables) {
    const [row] = await service.database.query<{ hash: string }>(
      `SELECT md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), '')) AS hash FROM ${table} t`,
    );
    state[table] = row?.hash;
  }
  return state;
}

function mails(): number {
  const directory = join(service.dataDirectory, 'mail');
  return existsSync(directory) ? readdirSync(directory).length : 0;
}

const newestEntry = async (): Promise<unknown> => (await auditEntries(service))[0];

/** The audit log entry of a denied request to an operation on the production environment or on something unknown. */
const denied = ({ action, path }: TestedDashboardOperation, { email }: Login, name: string): unknown => ({
  event: { action, outcome: { status: 'denied' } },
  actor: { name, email },
  target: {
    name: path.includes(UNKNOWN_ID) ? UNKNOWN_ID : path.includes('999999') ? '999999' : null,
    environment: 'production',
  },
  context: { ip: '127.0.0.1', user_agent: USER_AGENT },
});

it('docs/dashboard-api.md lists the permissions of all operations', () => {
  const page = readFileSync(new URL('../../docs/dashboard-api.md', import.meta.url), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  const cells = rows.map((row) => row.split('|').map((cell) => cell.trim()));
  expect(cells.map(([, route, , role, credentials, action]) => [route, role, credentials, action])).toEqual(
    DASHBOARD_OPERATIONS.map(({ method, path, role, isFresh, scope, action }) => [
      `\`${method} ${path
        .replace(/\?.*/, '')
        .replace(/(?<=api-clients\/)[^/]+/, '{client_id}')
        .replace(UNKNOWN_ID, '{id}')
        .replace('999999', '{id}')}\``,
      role,
      scope ? `\`${scope}\`` : isFresh ? 'yes' : '',
      action ? `\`${action}\`` : '',
    ]),
  );
});

describe('An access token', () => {
  it('is read from the Authorization header, whatever else the request contains', async () => {
    const token = await tokenOf(member);
    for (const authorization of [`Bearer ${token}`, `bearer ${token}`, `BEARER   ${token}  `]) {
      for (const path of ['/me', '/me?access_token=another']) {
        expect((await service.request(path, { headers: { authorization } })).status).toBe(200);
      }
    }
  });

  it.each([
    '',
    'Bearer',
    'Bearer ',
    'Bearer a b',
    'Bearer ä',
    'Bearer "a"',
    'Bearer a,',
    'Bearers a',
    'Token a',
  ])('is invalid in the header %j, which gets a 401 response', async (authorization) => {
    const token = await tokenOf(member);
    const headers = { authorization, cookie: member.cookie };
    const response = await service.request(`/me?access_token=${token}`, { headers });
    expect([response.status, response.body['error_code']]).toEqual([401, 'INVALID_ACCESS_TOKEN']);
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer realm="Dashboard API"/);
  });
});

describe.each(DASHBOARD_OPERATIONS)('$id', (operation) => {
  const { role, action, scope, body, method } = operation;

  it('requires a login, whatever the body', async () => {
    const bodies = body === undefined ? [undefined] : [body, 'not json', { large: 'x'.repeat(600_000) }];
    for (const sent of bodies) {
      for (const cookie of ['', 'session=made-up', `session=${UNKNOWN_ID}; a=b`]) {
        const response = await send(
          { ...operation, ...(sent === undefined ? {} : { body: sent }) },
          { headers: { cookie } },
        );
        const isForProgram = operation.acceptsBasic && cookie === '';
        const code = isForProgram ? 'INVALID_API_KEYS' : 'INVALID_ACCESS_TOKEN';
        expect([response.status, response.body['error_code']]).toEqual([401, code]);
        const challenge = isForProgram ? /^Basic / : /^Bearer realm="Dashboard API"$/;
        expect(response.headers.get('www-authenticate')).toMatch(challenge);
      }
    }
  });

  it('rejects a forged access token, and an owner’s access token without the scope', async () => {
    const forged = await send(operation, { token: 'made-up', login: owner });
    expect([forged.status, forged.body]).toEqual([401, INVALID_ACCESS_TOKEN]);
    const before = await everything();
    const token = await tokenOf(
      owner,
      SCOPES.filter((each) => each !== scope),
    );
    const response = await send(operation, { token });
    expect([response.status, response.body]).toEqual([403, scope ? missingScope(scope) : INSUFFICIENT_SCOPE]);
    if (action) expect(await newestEntry()).toMatchObject(denied(operation, owner, 'The owner') as object);
    const { audit_log: _, ...after } = await everything();
    expect(before).toMatchObject(after);
  });

  if (scope) {
    it('accepts a member’s access token with only the required scope', async () => {
      const response = await send(operation, { token: await tokenOf(member, [scope]) });
      expect(response.status).toBe(operation.isNotFound ? 404 : 200);
      if (!operation.isNotFound) await service.database.query('DELETE FROM webhook_endpoint');
    });
  }

  it.each(['admin', 'member', 'viewer'] as const)('checks the role (%s)', async (name) => {
    const login = { admin, member, viewer }[name];
    const mayNot = DASHBOARD_ROLES.indexOf(name) > DASHBOARD_ROLES.indexOf(role);
    if (!mayNot) {
      if (method !== 'GET' && !operation.isNotFound) return;
      expect([200, 404]).toContain((await send(operation, { login })).status);
      return;
    }
    const response = await send(operation, { login });
    expect([response.status, response.body]).toEqual([403, INSUFFICIENT_ROLE]);
    if (action) expect(await newestEntry()).toMatchObject(denied(operation, login, `The ${name}`) as object);
  });

  it(
    operation.isFresh ? 'accepts only a login from the last 5 minutes' : 'accepts an older login',
    async () => {
      if (!operation.isFresh && method !== 'GET') return;
      using _clock = moveClock(service, 5 * 60_000 + 1_000);
      const { status, headers, body } = await send(operation, { login: owner });
      if (!operation.isFresh) return expect([200, 404]).toContain(status);
      expect([status, body['error_code']]).toEqual([401, 'INVALID_ACCESS_TOKEN']);
      expect(headers.get('www-authenticate')).toContain('error="insufficient_user_authentication"');
      if (action) expect(await newestEntry()).toMatchObject(denied(operation, owner, 'The owner') as object);
    },
  );

  it('rejects requests from pages of other sites', async () => {
    const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
    if (method === 'GET') return;
    const response = await send(operation, { login: owner, headers });
    expect([response.status, response.body['error_code']]).toEqual([403, 'NO_ACCESS']);
  });

  if (operation.isNotFound) {
    it('responds 404 to unknown and malformed IDs', async () => {
      const before = await everything();
      const ids = [
        UNKNOWN_ID,
        UNKNOWN_ID.toUpperCase(),
        'a',
        '0',
        '-1',
        '1e3',
        '99999999999999999999',
        'null',
        '%00',
        "'",
        '%F0%9F%9B%92',
      ];
      for (const id of ids) {
        const path = operation.path.replace(UNKNOWN_ID, id).replace('999999', id);
        const response = await send({ ...operation, path }, { login: otherOwner });
        expect([path, response.status]).toEqual([path, 404]);
        expect(response.body['error_code']).toMatch(/^(?:USER_|WEBHOOK_ENDPOINT_|REQUEST_LOG_)?NOT_FOUND$/);
      }
      expect(await everything()).toEqual(before);
    });
  }

  if (body !== undefined) {
    it('rejects large bodies and other content types', async () => {
      const large = await send({ ...operation, body: { large: 'x'.repeat(600_000) } }, { login: owner });
      expect([large.status, large.body['error_code']]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
      const typed = await send(operation, { login: owner, headers: { 'content-type': 'text/plain' } });
      expect([typed.status, typed.body['error_code']]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    });
  }
});

/** An audited operation: its preparation, and the expected target in the log. */
interface Action {
  readonly operationId: string;
  readonly prepare: () => Promise<{
    readonly path?: string;
    readonly body?: Readonly<Record<string, unknown>>;
    readonly target: { readonly name: string | null; readonly environment?: 'development' };
  }>;
  /** Whether the path or body refers to a resource of the organization. */
  readonly isOwned?: boolean;
  /** A second request changes and records nothing. */
  readonly isIdempotent?: boolean;
}

let number = 0;
const unique = (): string => `n${(number += 1)}`;

async function created(path: string, body: Record<string, unknown>): Promise<string> {
  const { status, body: response } = await service.request(path, { body, login: owner });
  expect(status).toBe(200);
  return String(response['id']);
}

const newUser = () => service.login('member');
const newDomain = async (): Promise<[id: string, domain: string]> => {
  const domain = `${unique()}.example`;
  return [await created('/allowlisted-domains/create', { domain }), domain];
};
const newConfiguration = async (): Promise<[id: string, name: string]> => {
  const name = `Okta ${unique()}`;
  return [await created('/saml-configurations/create', { name, metadata_xml: samlMetadata() }), name];
};
const newGrant = async (): Promise<[id: string, email: string]> => {
  const { userId, email } = await newUser();
  const body = { user_id: userId, role: 'admin', reason: 'A test', expires_in: 3600 };
  return [await created('/access-grants/create', body), email];
};
const merchant = async (): Promise<{ id: number; name: string }> => {
  const [row] = await service.database.query<{ id: number; name: string }>(
    `SELECT id, name FROM merchant WHERE id NOT IN (SELECT merchant_id FROM merchant_visibility) LIMIT 1`,
  );
  return row as { id: number; name: string };
};
const disableAll = () => service.database.query('UPDATE saml_configuration SET enabled_at = NULL');
const clientId = () => service.development.clientId;
const ofClient = (action: string) => ({
  path: `/api-clients/${clientId()}/secret/${action}`,
  target: { name: clientId(), environment: 'development' as const },
});

/** Deletes the other endpoints first, because an environment may have 10. */
const newEndpoint = async (): Promise<[id: string, url: string]> => {
  await service.database.query('DELETE FROM webhook_endpoint');
  const url = `https://${unique()}.example.com/`;
  return [await created('/webhook-endpoints/create', { environment: 'development', url }), url];
};

const publishEvent = (): Promise<string> =>
  service.app
    .get(WebhookPublisher)
    .publish(
      { clientId: service.development.clientId, environment: 'development' },
      exampleEvent('CARD_UPDATED'),
    );

async function newConnection(): Promise<{ id: string; agent: string }> {
  await (await LoginAgent.register(service)).connect(unique());
  const [row] = await service.database.query<{ id: string }>(
    'SELECT id FROM agent_connection ORDER BY created_at DESC LIMIT 1',
  );
  return { id: row?.id ?? '', agent: 'Test Agent (agent.example.com)' };
}

async function newAgent(): Promise<string> {
  const body = {
    environment: 'development',
    name: 'Removed Agent',
    redirect_uris: ['https://agent.example.com/callback'],
  };
  const created = await service.request<{ id: string }>('/agents/create', {
    body,
    login: await service.login('owner'),
  });
  return created.body.id;
}

const ACTIONS: readonly Action[] = [
  {
    operationId: 'createUser',
    prepare: async () => {
      await service.database.query('DELETE FROM allowlisted_domain');
      const email = `${unique()}@example.com`;
      return { body: { email, name: 'New', role: 'member' }, target: { name: email } };
    },
  },
  {
    operationId: 'updateUser',
    isOwned: true,
    isIdempotent: true,
    prepare: async () => {
      const { userId, email } = await newUser();
      return { path: `/users/${userId}`, target: { name: email } };
    },
  },
  {
    operationId: 'deleteUser',
    isOwned: true,
    prepare: async () => {
      const { userId, email } = await newUser();
      return { path: `/users/${userId}`, target: { name: email } };
    },
  },
  {
    operationId: 'createAccessGrant',
    isOwned: true,
    prepare: async () => {
      const { userId, email } = await newUser();
      const body = { user_id: userId, role: 'owner', reason: 'A test', expires_in: 3600 };
      return { body, target: { name: email } };
    },
  },
  {
    operationId: 'revokeAccessGrant',
    isOwned: true,
    isIdempotent: true,
    prepare: async () => {
      const [id, email] = await newGrant();
      return { path: `/access-grants/${id}/revoke`, target: { name: email } };
    },
  },
  {
    operationId: 'createAllowlistedDomain',
    prepare: async () => {
      const domain = `${unique()}.example`;
      return { body: { domain }, target: { name: domain } };
    },
  },
  {
    operationId: 'deleteAllowlistedDomain',
    isOwned: true,
    prepare: async () => {
      const [id, domain] = await newDomain();
      return { path: `/allowlisted-domains/${id}`, target: { name: domain } };
    },
  },
  {
    operationId: 'disconnectAgent',
    isOwned: true,
    prepare: async () => {
      const { id, agent } = await newConnection();
      return { path: `/agent-connections/${id}`, target: { name: agent, environment: 'development' } };
    },
  },
  {
    operationId: 'cancelSignInLink',
    isOwned: true,
    isIdempotent: true,
    prepare: async () => {
      const { id } = await newLink(service);
      const target = { name: NETFLIX.name, environment: 'development' as const };
      return { path: `/sign-in-links/${id}/cancel`, target };
    },
  },
  {
    operationId: 'updateAgentSettings',
    prepare: async () => ({ target: { name: null } }),
  },
  {
    operationId: 'createAgent',
    prepare: async () => ({ target: { name: 'Example Agent' } }),
  },
  {
    operationId: 'deleteAgent',
    isOwned: true,
    prepare: async () => ({
      path: `/agents/${await newAgent()}`,
      target: { name: 'Removed Agent', environment: 'development' },
    }),
  },
  {
    operationId: 'createSamlConfiguration',
    prepare: async () => ({ target: { name: 'Okta' } }),
  },
  {
    operationId: 'updateSamlConfiguration',
    isOwned: true,
    isIdempotent: true,
    prepare: async () => {
      const [id] = await newConfiguration();
      return { path: `/saml-configurations/${id}`, body: { name: 'Renamed' }, target: { name: 'Renamed' } };
    },
  },
  {
    operationId: 'enableSamlConfiguration',
    isOwned: true,
    isIdempotent: true,
    prepare: async () => {
      await disableAll();
      const [id, name] = await newConfiguration();
      return { path: `/saml-configurations/${id}/enable`, target: { name } };
    },
  },
  {
    operationId: 'disableSamlConfiguration',
    isOwned: true,
    isIdempotent: true,
    prepare: async () => {
      await disableAll();
      const [id, name] = await newConfiguration();
      await service.request(`/saml-configurations/${id}/enable`, { method: 'POST', login: owner });
      return { path: `/saml-configurations/${id}/disable`, target: { name } };
    },
  },
  {
    operationId: 'hideMerchant',
    isIdempotent: true,
    prepare: async () => {
      const { id, name } = await merchant();
      const body = { environment: 'development' };
      return { path: `/merchants/${id}/hide`, body, target: { name, environment: 'development' } };
    },
  },
  {
    operationId: 'activateMerchant',
    isIdempotent: true,
    prepare: async () => {
      const { id, name } = await merchant();
      const body = { environment: 'production' };
      await service.request(`/merchants/${id}/hide`, { body, login: owner });
      return { path: `/merchants/${id}/activate`, body, target: { name } };
    },
  },
  {
    operationId: 'exportMerchants',
    prepare: async () => ({
      path: '/merchants/export?environment=development',
      target: { name: null, environment: 'development' },
    }),
  },
  {
    operationId: 'activateOrganization',
    isIdempotent: true,
    prepare: async () => {
      await service.database.query('UPDATE organization SET activated_at = NULL');
      return { target: { name: 'Test organization' } };
    },
  },
  {
    operationId: 'updateOrganization',
    isIdempotent: true,
    prepare: async () => {
      await service.database.query(
        `UPDATE organization SET second_factor_required_from = now() + interval '1 day'`,
      );
      return { body: { require_second_factor: false }, target: { name: 'Test organization' } };
    },
  },
  {
    operationId: 'updateApiClient',
    isOwned: true,
    isIdempotent: true,
    prepare: async () => ({
      path: `/api-clients/${clientId()}`,
      body: { name: unique() },
      target: { name: clientId(), environment: 'development' },
    }),
  },
  {
    operationId: 'updateOrganizationLogo',
    prepare: async () => {
      await service.database.query('UPDATE organization SET logo = NULL, logo_media_type = NULL');
      return { body: { image: PNG.toString('base64') }, target: { name: 'Test organization' } };
    },
  },
  { operationId: 'viewApiSecret', isOwned: true, prepare: async () => ofClient('view') },
  {
    operationId: 'rotateApiSecret',
    isOwned: true,
    prepare: async () => ({ ...ofClient('rotate'), body: { overlap_hours: 0 } }),
  },
  {
    operationId: 'activateApiSecret',
    isOwned: true,
    isIdempotent: true,
    prepare: async () => {
      await service.request(ofClient('rotate').path, { body: { overlap_hours: 0 }, login: owner });
      await service.request(ofClient('rotate').path, { body: { overlap_hours: 1 }, login: owner });
      return ofClient('activate');
    },
  },
  {
    operationId: 'createWebhookEndpoint',
    prepare: async () => {
      await service.database.query('DELETE FROM webhook_endpoint');
      const url = `https://${unique()}.example.com/`;
      return { body: { environment: 'development', url }, target: { name: url, environment: 'development' } };
    },
  },
  {
    operationId: 'updateWebhookEndpoint',
    isOwned: true,
    isIdempotent: true,
    prepare: async () => {
      const [id] = await newEndpoint();
      const url = `https://${unique()}.example.com/`;
      const target = { name: url, environment: 'development' as const };
      return { path: `/webhook-endpoints/${id}`, body: { url }, target };
    },
  },
  {
    operationId: 'deleteWebhookEndpoint',
    isOwned: true,
    prepare: async () => {
      const [id, name] = await newEndpoint();
      return { path: `/webhook-endpoints/${id}`, target: { name, environment: 'development' } };
    },
  },
  {
    operationId: 'redeliverWebhook',
    isOwned: true,
    isIdempotent: true,
    prepare: async () => {
      // The endpoint is newer, so it has not got the event.
      const body = { event_id: await publishEvent() };
      const [id, name] = await newEndpoint();
      const target = { name, environment: 'development' as const };
      return { path: `/webhook-endpoints/${id}/redeliver`, body, target };
    },
  },
  {
    operationId: 'recoverWebhooks',
    isOwned: true,
    isIdempotent: true,
    prepare: async () => {
      const [id, name] = await newEndpoint();
      return { path: `/webhook-endpoints/${id}/recover`, target: { name, environment: 'development' } };
    },
  },
];

describe('Audited operations', () => {
  it('are all tested below', () => {
    const audited = DASHBOARD_OPERATIONS.filter(({ action }) => action).map(({ id }) => id);
    expect(ACTIONS.map(({ operationId }) => operationId).toSorted()).toEqual(audited.toSorted());
  });

  describe.each(ACTIONS)('$operationId', ({ operationId, prepare, isOwned, isIdempotent }) => {
    const operation = DASHBOARD_OPERATIONS.find(({ id }) => id === operationId) as TestedDashboardOperation;
    // A recovery is accepted, and runs in the background.
    const success = operationId === 'recoverWebhooks' ? 202 : 200;

    async function whileNothingCanBeRecorded(work: () => Promise<void>): Promise<void> {
      await service.database.query(
        `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'full'; END $$;
         CREATE TRIGGER fail BEFORE INSERT ON audit_log FOR EACH ROW EXECUTE FUNCTION fail();`,
      );
      try {
        await work();
      } finally {
        await service.database.query('DROP TRIGGER fail ON audit_log; DROP FUNCTION fail();');
      }
    }

    it('changes and records together, or not at all', async () => {
      const { target, ...request } = await prepare();
      const before = await everything();
      await whileNothingCanBeRecorded(async () => {
        const response = await send({ ...operation, ...request }, { login: owner });
        expect([response.status, response.body['error_code']]).toEqual([500, 'INTERNAL_ERROR']);
      });
      expect(await everything()).toEqual(before);

      const { status } = await send({ ...operation, ...request }, { login: owner });
      expect(status).toBe(success);
      expect(await newestEntry()).toMatchObject({
        event: { action: operation.action, outcome: { status: 'success' } },
        actor: { name: 'The owner', email: owner.email },
        target: { environment: 'production', ...target },
        context: { ip: '127.0.0.1', user_agent: USER_AGENT },
      });
      if (!isIdempotent) return;
      const done = await everything();
      expect((await send({ ...operation, ...request }, { login: owner })).status).toBe(success);
      expect(await everything()).toEqual(done);
    });

    if (isOwned) {
      it('finds nothing of another organization', async () => {
        const { target: _, ...request } = await prepare();
        const before = await everything();
        const response = await send({ ...operation, ...request }, { login: otherOwner });
        expect(response.status).toBe(404);
        expect(await everything()).toEqual(before);
      });
    }
  });

  it('fail with 500 when a denial cannot be recorded', async () => {
    await service.database.query('ALTER TABLE audit_log RENAME TO audit_log_renamed');
    const response = await service.request('/users/create', { body: {}, login: member });
    await service.database.query('ALTER TABLE audit_log_renamed RENAME TO audit_log');
    expect(response.status).toBe(500);
  });
});

it('lists contain nothing of other organizations', async () => {
  await newDomain();
  await newConfiguration();
  await newGrant();
  await newEndpoint();
  for (const path of ['/allowlisted-domains', '/saml-configurations', '/access-grants'])
    expect([path, (await service.request(path, { login: otherOwner })).body]).toEqual([path, []]);
  const endpoints = await service.request('/webhook-endpoints?environment=development', {
    login: otherOwner,
  });
  expect(endpoints.body).toEqual({ data: [] });
  const users = await service.request<{ email: string }[]>('/users', { login: otherOwner });
  expect(users.body).toHaveLength(2);
  expect(users.body.map(({ email }) => email)).not.toContain(owner.email);
  const clients = await service.request<{ client_id: string }[]>('/api-clients', { login: otherOwner });
  expect(clients.body.map(({ client_id }) => client_id)).not.toContain(clientId());
  const organization = await service.request('/organization', { login: otherOwner });
  expect(organization.body['organization_id']).toBe(otherOwner.organizationId);
  const [id] = await newConfiguration();
  expect((await service.request(`/saml-configurations/${id}`, { login: otherOwner })).status).toBe(404);
  expect((await service.request(`/saml-configurations/${id}`, { login: owner })).status).toBe(200);
});

describe.each(['development', 'production'] as const)('A denied attempt on the %s client', (environment) => {
  it.each(DASHBOARD_OPERATIONS.filter(({ path, action }) => path.startsWith('/api-clients/') && action))(
    'is recorded with its environment: $id',
    async (operation) => {
      const { clientId } = service[environment];
      const path = operation.path.replace(UNKNOWN_ID, clientId);
      expect((await send({ ...operation, path }, { login: member })).status).toBe(403);
      expect(await newestEntry()).toMatchObject({
        event: { action: operation.action, outcome: { status: 'denied' } },
        target: { name: clientId, environment },
      });
    },
  );
});

describe.each([
  ['development', 'production'],
  ['production', 'development'],
] as const)('A deployment pinned to %s', (pinned, other) => {
  let host: TestApp;
  let login: Login;
  let visitor: Visitor;

  beforeAll(async () => {
    host = await startTestApp({ PIN_ENVIRONMENT: pinned });
    login = await host.login('owner');
    visitor = new Visitor(host);
    visitor.cookies.set('session', login.cookie.replace('session=', ''));
    visitor.cookies.set('environment', other);
  });
  afterAll(() => host.close());

  it('neither lists nor changes the client of the other environment', async () => {
    const { body: clients } = await host.request<{ client_id: string }[]>('/api-clients', { login });
    expect(clients.map(({ client_id }) => client_id)).toEqual([host[pinned].clientId]);
    for (const [method, path, body] of [
      ['PATCH', '', { name: 'Renamed' }],
      ['POST', '/secret/view'],
      ['POST', '/secret/rotate', { overlap_hours: 0 }],
      ['POST', '/secret/activate'],
    ] as const) {
      const of = (clientId: string) => `/api-clients/${clientId}${path}`;
      expect((await host.request(of(host[other].clientId), { method, body, login })).status).toBe(404);
      expect((await host.request(of(host[pinned].clientId), { method, body, login })).status).toBe(200);
    }
  });

  it.each(
    DASHBOARD_OPERATIONS.filter(({ path, body }) => path.includes('environment=') || body?.['environment']),
  )('refuses the other environment: $id', async ({ path, method, body }) => {
    const { status, body: refusal } = await host.request(path.replace('=production', `=${other}`), {
      method,
      ...(body && { body: { ...body, environment: other } }),
      login,
    });
    const message = `The selected environment is invalid. Allowed values: ${pinned}.`;
    expect([status, refusal['error_message']]).toEqual([400, message]);
  });

  it('has no page of the other environment', async () => {
    expect((await visitor.get('/dashboard')).location).toBe(`/dashboard/${pinned}`);
    const { text } = await visitor.get(`/dashboard/${pinned}`);
    const pages = [...text.matchAll(/href="(\/dashboard\/[a-z]+(?:\/[\w-]+)?)"/g)].map(([, path]) =>
      String(path),
    );
    expect(pages.length).toBeGreaterThan(6);
    expect(pages.filter((path) => path.startsWith(`/dashboard/${other}`))).toEqual([]);
    for (const path of new Set(pages.filter((each) => each.startsWith(`/dashboard/${pinned}`)))) {
      expect([path, (await visitor.get(path)).status]).toEqual([path, 200]);
      expect([path, (await visitor.get(path.replace(pinned, other))).status]).toEqual([path, 404]);
    }
  });
});
