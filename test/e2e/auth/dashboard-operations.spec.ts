import { readFileSync } from 'node:fs';
import { DASHBOARD_ROLES, SCOPES, type Scope } from '../../../src/infrastructure/auth/index.js';
import { acceptAccessTokens } from '../../support/logins/access-tokens.js';
import { auditEntries } from '../../support/logs/audited.js';
import {
  DASHBOARD_OPERATIONS,
  UNKNOWN_ID,
  type TestedDashboardOperation,
} from '../../support/documents/operations.js';
import {
  error,
  useTestApp,
  type TestResponse,
  type RequestOptions,
  type Login,
  useLogin,
} from '../../support/test-app.js';
import { everything } from '../../support/pages/dashboard-forms.js';

const INSUFFICIENT_ROLE = error(
  'INVALID_REQUEST',
  'INSUFFICIENT_ROLE',
  'Your role does not allow this. Ask an owner or an admin of your organization.',
);
const missingScope = (scope: Scope) =>
  error('INVALID_REQUEST', 'INSUFFICIENT_SCOPE', `The access token lacks the scope ${scope}.`);
const INVALID_ACCESS_TOKEN = error('INVALID_INPUT', 'INVALID_ACCESS_TOKEN', 'The access token is not valid.');
const USER_AGENT = 'Tests of the dashboard';

const service = useTestApp();
const owner = useLogin(service, 'owner');
const admin = useLogin(service, 'admin');
const member = useLogin(service, 'member');
const viewer = useLogin(service, 'viewer');
/** The owner of another organization. */
let otherOwner: Login;
let tokenOf: (login: Login, scopes?: readonly Scope[]) => Promise<string>;

beforeAll(async () => {
  const { id } = await service.anotherOrganization();
  otherOwner = await service.login('owner', id);
  tokenOf = acceptAccessTokens(service);
});

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

const newestEntry = async (): Promise<unknown> => (await auditEntries(service))[0];

/** The audit log entry of a denied request to an operation on the production environment or on something unknown. */
const denied = ({ action, path }: TestedDashboardOperation, { email }: Login, name: string): unknown => ({
  event: { action, outcome: { status: 'denied' } },
  actor: { name, email },
  target: {
    name: path.includes(UNKNOWN_ID) ? UNKNOWN_ID : null,
    environment: 'production',
  },
  context: { ip: '127.0.0.1', user_agent: USER_AGENT },
});

it('docs/dashboard-api.md lists the permissions of all operations', () => {
  const page = readFileSync(new URL('../../../docs/dashboard-api.md', import.meta.url), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  const cells = rows.map((row) => row.split('|').map((cell) => cell.trim()));
  expect(cells.map(([, route, , role, credentials, action]) => [route, role, credentials, action])).toEqual([
    ['`GET /me`', 'viewer', 'any', ''],
    ...DASHBOARD_OPERATIONS.map(({ method, path, role, scope, action }) => [
      `\`${method} ${path.replace(/\?.*/, '').replace(UNKNOWN_ID, '{id}')}\``,
      role,
      `\`${scope}\``,
      action ? `\`${action}\`` : '',
    ]),
  ]);
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
        expect([response.status, response.body['error_code']]).toEqual([401, 'INVALID_ACCESS_TOKEN']);
        expect(response.headers.get('www-authenticate')).toBe('Bearer realm="Dashboard API"');
      }
    }
  });

  it('rejects a forged access token, and an owner’s access token without the scope', async () => {
    const forged = await send(operation, { token: 'made-up', login: owner });
    expect([forged.status, forged.body]).toEqual([401, INVALID_ACCESS_TOKEN]);
    const before = await everything(service);
    const token = await tokenOf(
      owner,
      SCOPES.filter((each) => each !== scope),
    );
    const response = await send(operation, { token });
    expect([response.status, response.body]).toEqual([403, missingScope(scope)]);
    if (action) expect(await newestEntry()).toMatchObject(denied(operation, owner, 'The owner') as object);
    const { audit_log: recorded, ...after } = await everything(service);
    expect(before).toMatchObject(action ? after : { ...after, audit_log: recorded });
  });

  it('accepts a member’s access token with only the required scope', async () => {
    const response = await send(operation, { token: await tokenOf(member, [scope]) });
    expect(response.status).toBe(operation.isNotFound ? 404 : 200);
    if (!operation.isNotFound) await service.database.query('DELETE FROM webhook_endpoint');
  });

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

  it('rejects requests from pages of other sites', async () => {
    const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
    if (method === 'GET') return;
    const response = await send(operation, { login: owner, headers });
    expect([response.status, response.body['error_code']]).toEqual([403, 'NO_ACCESS']);
  });

  if (operation.isNotFound) {
    it('responds 404 to unknown and malformed IDs', async () => {
      const before = await everything(service);
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
        const path = operation.path.replace(UNKNOWN_ID, id);
        const response = await send({ ...operation, path }, { login: otherOwner });
        expect([path, response.status]).toEqual([path, 404]);
        expect(response.body['error_code']).toMatch(/^(?:USER_|WEBHOOK_ENDPOINT_|REQUEST_LOG_)?NOT_FOUND$/);
      }
      expect(await everything(service)).toEqual(before);
    });
  }

  if (body !== undefined) {
  }
});

describe.each([
  ['development', 'production'],
  ['production', 'development'],
] as const)('A deployment pinned to %s', (pinned, other) => {
  const host = useTestApp({ PIN_ENVIRONMENT: pinned });
  const login = useLogin(host, 'owner');

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
});
