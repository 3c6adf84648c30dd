import { randomBytes } from 'node:crypto';
import { TransactionHost } from '@nestjs-cls/transactional';
import type { DashboardRole } from '../../../src/infrastructure/auth/index.js';
import { DAY, SECOND } from '../../../src/infrastructure/time/index.js';
import { DomainProofsJob } from '../../../src/modules/allowlisted-domains/domain-proofs.job.js';
import { PasswordLinksService } from '../../../src/modules/dashboard-login/index.js';
import { PasswordResetsJob } from '../../../src/modules/dashboard-login/passwords/password-resets.job.js';
import { PasswordResetsService } from '../../../src/modules/dashboard-login/passwords/password-resets.service.js';
import { DashboardUsersRepository } from '../../../src/modules/dashboard-users/index.js';
import { SsoSettingsService } from '../../../src/modules/single-sign-on/index.js';
import {
  Authenticator,
  type CreationOptions,
  type RequestOptions,
} from '../../support/logins/authenticator.js';
import { moveClock } from '../../support/clock.js';
import { grantRole, submitForm } from '../../support/pages/dashboard-forms.js';
import { auditOf, changeInTurn, disable, sessionsOf } from '../../support/pages/dashboard-users.js';
import { decide, poll, startFlow } from '../../support/logins/device-flow.js';
import { startDnsServer, type DnsServer } from '../../support/http/dns-server.js';
import { eventually } from '../../support/eventually.js';
import { ForgedProvider } from '../../support/logins/forged-provider.js';
import { mailsTo, mailTo } from '../../support/messages/mails.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import {
  addProvider,
  addUserAt,
  newOwner,
  proveDomain,
  providerUrl,
  SSO_PATH,
  type Owner,
  ssoSettings,
} from '../../support/logins/single-sign-on.js';
import { countOf, startTestApp, type TestApp, type TestResponse } from '../../support/test-app.js';
import { totpCode } from '../../support/logins/totp.js';
import { Visitor, visitorWithRole, type PageResponse } from '../../support/pages/visitor.js';

const SETTINGS = '/dashboard/single-sign-on';
const FACTOR = '/account/second-factor';
const REFUSED = 'The email address or password is wrong.';

let service: TestApp;
let dns: DnsServer;
let provider: ForgedProvider;

beforeAll(async () => {
  [dns, provider] = await Promise.all([startDnsServer(), ForgedProvider.start()]);
  service = await startTestApp(ssoSettings(dns));
});
afterAll(async () => {
  await service?.close();
  await Promise.all([dns.close(), provider.close()]);
});

interface Organization extends Owner {
  readonly domain: string;
  readonly id: string;
  readonly provider: ForgedProvider;
}

/** A new organization with a proved domain, a tested provider that is enabled, and these settings. */
async function setUp(settings: Record<string, string> = {}, at = provider): Promise<Organization> {
  const owner = await newOwner(service);
  const domain = await proveDomain(owner, dns);
  const id = await addProvider(owner, at);
  const organization = { ...owner, domain, id, provider: at };
  await test(organization);
  await owner.visitor.fill(`${SSO_PATH}/${id}/enable`, {});
  if (Object.keys(settings).length > 0)
    expect((await change(organization, settings)).location).toBe(`${SETTINGS}?done=changed`);
  return organization;
}

/** Logs in at the provider to test it, as a user of the organization. @returns the page that shows what a login would do */
async function test(organization: Organization, more: Record<string, unknown> = {}): Promise<string> {
  const { visitor, domain, id, provider: at } = organization;
  const { email } = await addUserAt(organization, domain);
  await visitor.get(`${SSO_PATH}/${id}`);
  const url = providerUrl(await visitor.submit(`${SSO_PATH}/${id}/test`));
  const query = at.respondTo(url, claims(email, more));
  return (await visitor.get(`/sso/oidc/${id}?${query.toString()}`)).text;
}

const change = ({ visitor }: Organization, settings: Record<string, string>): Promise<PageResponse> =>
  visitor.fill(SETTINGS, settings);

function claims(email: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { sub: `sub of ${email}`, email, ...more };
}

const someAddress = ({ domain }: Organization): string => `${randomBytes(6).toString('hex')}@${domain}`;

async function logIn(
  { id, provider: at }: Organization,
  email: string,
  more: Record<string, unknown> = {},
  visitor = new Visitor(service),
): Promise<{ visitor: Visitor; response: PageResponse }> {
  const url = providerUrl(await visitor.fill('/login', { step: 'address', email }));
  const query = at.respondTo(url, claims(email, more));
  return { visitor, response: await visitor.get(`/sso/oidc/${id}?${query.toString()}`) };
}

/** @returns the secret */
async function setUpSecondFactor(visitor: Visitor): Promise<string> {
  expect((await visitor.fill(FACTOR, {}, `${FACTOR}/setup`)).location).toBe(`${FACTOR}/setup`);
  const { text } = await visitor.get(`${FACTOR}/setup`);
  const secret = (/<code class="secret">([A-Z2-7 ]+)</.exec(text)?.[1] ?? '').replaceAll(' ', '');
  rememberSecret(secret);
  const code = totpCode(secret, Date.now());
  expect((await visitor.submit(`${FACTOR}/enable`, { code })).status).toBe(200);
  return secret;
}

/** Adds a passkey to the account of a user who is logged in. */
async function addPasskey(visitor: Visitor, name = 'Phone'): Promise<Authenticator> {
  const authenticator = new Authenticator('https://dashboard.example.com');
  const passkeys = '/account/passkeys';
  await visitor.get(passkeys);
  const options = JSON.parse((await visitor.submit(`${passkeys}/options`)).text) as CreationOptions;
  const credential = authenticator.create(options);
  expect((await visitor.submit(passkeys, { name, credential })).status).toBe(303);
  return authenticator;
}

async function logInWithPasskey(
  authenticator: Authenticator,
): Promise<{ visitor: Visitor; response: PageResponse }> {
  const visitor = new Visitor(service);
  await visitor.get('/login');
  const asked = await visitor.submit('/login/passkey/options');
  const credential = authenticator.get(JSON.parse(asked.text) as RequestOptions);
  return { visitor, response: await visitor.submit('/login/passkey', { credential }) };
}

/** Logs in at the provider at this moment, which makes the login recent. */
const logInNow = (organization: Organization, email: string) =>
  logIn(organization, email, { auth_time: Math.floor(Date.now() / SECOND) });

/** Has a user with this role enable the provider. */
async function enableAs({ id, organizationId }: Organization, role: DashboardRole): Promise<void> {
  const visitor = await visitorWithRole(service, role, organizationId);
  await visitor.fill(`${SSO_PATH}/${id}/disable`, {});
  expect((await visitor.fill(`${SSO_PATH}/${id}/enable`, {})).location).toContain('done=enabled');
}

const untilLoginWaits = (): Promise<unknown> =>
  eventually('the login to wait', async () => {
    const waiting = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    return (await service.database.query(waiting)).length > 0;
  });

async function userAt(email: string): Promise<Record<string, unknown> | undefined> {
  const rows = await service.database.query<Record<string, unknown>>(
    'SELECT id, name, role, is_break_glass FROM dashboard_user WHERE email = $1',
    [email],
  );
  return rows[0];
}

describe('A person without a user', () => {
  it('is refused, unless the organization lets new people become users', async () => {
    const organization = await setUp();
    const email = someAddress(organization);
    const { response } = await logIn(organization, email);
    expect([response.status, response.text]).toEqual([403, expect.stringContaining('has no user with this')]);
    await change(organization, { creates_users: 'yes' });
    const { visitor, response: accepted } = await logIn(organization, email, { name: 'Ada Lovelace' });
    expect(accepted.location).toBe('/dashboard');
    expect((await visitor.get('/account')).text).toContain(email);
    expect(await userAt(email)).toMatchObject({ name: 'Ada Lovelace', role: 'viewer' });
    expect(await auditOf(service, { email })).toEqual([
      'user.add success',
      'auth.provider_link success',
      'auth.login success',
    ]);
  });

  it('becomes one user through 10 concurrent first logins', async () => {
    const organization = await setUp({ creates_users: 'yes' });
    const email = someAddress(organization);
    const logins = await Promise.all(Array.from({ length: 10 }, () => logIn(organization, email)));
    expect(
      countOf(
        logins.map(({ response }) => response),
        303,
      ),
    ).toBe(10);
    const user = await userAt(email);
    expect(await sessionsOf(service, { id: String(user?.['id']) })).toBe(10);
    expect((await auditOf(service, { email })).filter((entry) => entry === 'user.add success')).toHaveLength(
      1,
    );
  });

  it.each([
    [
      'whose domain is not proved',
      (): string => 'ada@elsewhere.example',
      'not a domain that your organization',
    ],
    ['without a verified address', (o: Organization): string => someAddress(o), 'verified email address'],
  ])('%s does not become a user', async (_what, addressOf, reason) => {
    const organization = await setUp({ creates_users: 'yes' });
    const email = addressOf(organization);
    const { response } = await logIn(organization, someAddress(organization), {
      email,
      email_verified: email.endsWith('elsewhere.example'),
    });
    expect([response.status, response.text]).toEqual([403, expect.stringContaining(reason)]);
    expect(await userAt(email)).toBeUndefined();
  });

  it('does not become a user with a user in another organization, or above the limit', async () => {
    const [organization, elsewhere] = [await setUp({ creates_users: 'yes' }), await newOwner(service)];
    const taken = await addUserAt(elsewhere, organization.domain);
    const refused = await logIn(organization, taken.email);
    expect(refused.response.text).toContain('The user cannot be created');
    await service.database.query(
      `INSERT INTO dashboard_user (id, organization_id, email, name, role, created_at)
       SELECT gen_random_uuid(), $1, 'n' || number || '@full.example', 'N', 'viewer', now()
         FROM generate_series(1, 1000) number`,
      [organization.organizationId],
    );
    const { response } = await logIn(organization, someAddress(organization));
    expect(response.text).toContain('The user cannot be created');
  });

  it('accepts an invitation with the login, and keeps the role of the invitation', async () => {
    const organization = await setUp();
    const email = someAddress(organization);
    await organization.visitor.fill('/dashboard/users/invitations/new', {
      email,
      name: 'Ada',
      role: 'member',
    });
    const [, token = ''] =
      /confirm\?token=([\w-]{43})/.exec(await mailTo(service, email, 'Your invitation')) ?? [];
    expect((await logIn(organization, email)).response.status).toBe(303);
    expect(await userAt(email)).toMatchObject({ name: 'Ada', role: 'member' });
    // The link of the email no longer works.
    expect(await service.app.get(PasswordLinksService).userOf(token)).toBeNull();
  });

  it.each([
    [
      'new people no longer become users',
      'UPDATE sso_setting SET creates_users = false WHERE organization_id = $1',
    ],
    [
      'the domain lost its proof',
      'UPDATE allowlisted_domain SET proved_at = NULL WHERE organization_id = $1',
    ],
  ])('is refused if %s by the time the login is done', async (_what, statement) => {
    const organization = await setUp({ creates_users: 'yes' });
    const email = someAddress(organization);
    const { login } = await service.app.get(TransactionHost).withTransaction(async () => {
      await service.app.get(DashboardUsersRepository).lockUsersOf(organization.organizationId);
      const started = logIn(organization, email);
      await untilLoginWaits();
      await service.database.query(statement, [organization.organizationId]);
      return { login: started };
    });
    expect((await login).response.status).toBe(403);
    expect(await userAt(email)).toBeUndefined();
  });

  it('accepts an invitation with the role that an owner gave meanwhile, whatever the provider sends', async () => {
    const organization = await setUp();
    const { organizationId } = organization;
    const email = someAddress(organization);
    await organization.visitor.fill('/dashboard/users/invitations/new', {
      email,
      name: 'Ada',
      role: 'admin',
    });
    const users = service.app.get(DashboardUsersRepository);
    const { login } = await service.app.get(TransactionHost).withTransaction(async () => {
      await users.lockUsersOf(organizationId);
      const started = logIn(organization, email);
      await untilLoginWaits();
      await users.change(String((await userAt(email))?.['id']), { role: 'viewer' });
      return { login: started };
    });
    expect((await login).response.location).toBe('/dashboard');
    expect((await userAt(email))?.['role']).toBe('viewer');

    const owner = someAddress(organization);
    await organization.visitor.fill('/dashboard/users/invitations/new', {
      email: owner,
      name: 'Boss',
      role: 'owner',
    });
    await change(organization, { role_attribute: 'groups', owner_values: 'bosses' });
    await enableAs(organization, 'admin');
    const { response } = await logIn(organization, owner, { groups: 'developers' });
    expect([response.status, response.text]).toEqual([
      403,
      expect.stringContaining('an owner has enabled it'),
    ]);
    expect((await userAt(owner))?.['role']).toBe('owner');
    await enableAs(organization, 'owner');
    expect((await logIn(organization, owner, { groups: 'developers' })).response.location).toBe('/dashboard');
    expect((await userAt(owner))?.['role']).toBe('viewer');
    expect(await auditOf(service, { email: owner })).toContain('user.update success');
  });

  it('who is disabled stays disabled', async () => {
    const organization = await setUp({ creates_users: 'yes' });
    const email = someAddress(organization);
    await logIn(organization, email);
    await disable(service, { id: String((await userAt(email))?.['id']) });
    const { response } = await logIn(organization, email);
    expect(response.text).toContain('The user is disabled.');
  });

  it('is shown by a test login, which creates nothing', async () => {
    const organization = await setUp({ creates_users: 'yes' });
    const { visitor, id } = organization;
    const email = someAddress(organization);
    await visitor.get(`${SSO_PATH}/${id}`);
    const url = providerUrl(await visitor.submit(`${SSO_PATH}/${id}/test`));
    const query = provider.respondTo(url, claims(email, { given_name: 'Ada', family_name: 'Lovelace' }));
    const { text } = await visitor.get(`/sso/oidc/${id}?${query.toString()}`);
    expect(text).toContain(`A login would create the user Ada Lovelace (${email}) with the role Viewer.`);
    expect(await userAt(email)).toBeUndefined();
  });

  it('is shown by a test login of an invited person', async () => {
    const organization = await setUp();
    const { visitor, id } = organization;
    const email = someAddress(organization);
    await visitor.fill('/dashboard/users/invitations/new', { email, name: 'Ada Lovelace', role: 'member' });
    await visitor.get(`${SSO_PATH}/${id}`);
    const url = providerUrl(await visitor.submit(`${SSO_PATH}/${id}/test`));
    const { text } = await visitor.get(
      `/sso/oidc/${id}?${provider.respondTo(url, claims(email)).toString()}`,
    );
    expect(text).toContain(
      `With a login, Ada Lovelace (${email}) would accept the invitation, with the role Member.`,
    );
  });
});

describe('Roles from the identity provider', () => {
  const MAPPED = {
    creates_users: 'yes',
    role_attribute: 'groups',
    owner_values: 'bosses',
    admin_values: 'ops, support',
    member_values: 'developers',
  };

  it.each([
    [['bosses'], 'owner'],
    [['x', 'support'], 'admin'],
    ['ops', 'admin'],
    [['developers', 'ops'], 'admin'],
    ['developers', 'member'],
    [['OPS'], 'viewer'],
    [undefined, 'viewer'],
    [7, 'viewer'],
  ])('map the groups %j to the role %s', async (groups, role) => {
    const organization = await setUp(MAPPED);
    const email = someAddress(organization);
    await logIn(organization, email, { groups });
    expect((await userAt(email))?.['role']).toBe(role);
  });

  const IN_LDAP = 'CN=Ops,OU=Groups,DC=shop,DC=example';
  const AUTH0 = 'https://shop.example/roles';
  const ZITADEL = 'urn:zitadel:iam:org:project:roles';
  it.each<[claim: string, sent: Record<string, unknown>, role: string]>([
    ['realm_access.roles', { realm_access: { roles: ['x', 'ops'] } }, 'admin'],
    ['resource_access.my.shop.roles', { resource_access: { 'my.shop': { roles: ['ops'] } } }, 'admin'],
    ['realm_access.roles', { realm_access: 'ops', roles: 'ops' }, 'viewer'],
    ['realm_access.roles', { realm_access: { roles: null } }, 'viewer'],
    ['constructor.name', {}, 'viewer'],
    [AUTH0, { [AUTH0]: ['ops'] }, 'admin'],
    [ZITADEL, { [ZITADEL]: { ops: { 1: 'shop.example' } } }, 'admin'],
    ['is_staff', { is_staff: true }, 'admin'],
    [' level ', { level: 7 }, 'admin'],
    ['level', { level: [1, 7] }, 'admin'],
    ['memberOf', { memberOf: [IN_LDAP, 'CN=x,DC=example'] }, 'admin'],
    ['memberOf', { memberOf: ['OU=Groups'] }, 'viewer'],
  ])('come from the claim %s of %j: %s', async (claim, sent, role) => {
    const organization = await setUp({
      creates_users: 'yes',
      role_attribute: claim,
      admin_values: `ops, "${IN_LDAP}",true,7, Function`,
    });
    const email = someAddress(organization);
    await logIn(organization, email, sent);
    expect((await userAt(email))?.['role']).toBe(role);
    expect((await test(organization, sent)).includes('the role is Viewer')).toBe(role === 'viewer');
    // The form contains the values as they were entered.
    await organization.visitor.fill(SETTINGS, { member_values: 'developers' });
    await logIn(organization, email, sent);
    expect((await userAt(email))?.['role']).toBe(role);
  });

  it('changes at the next login if the provider decides it, and never otherwise', async () => {
    const organization = await setUp(MAPPED);
    expect(await test(organization, { groups: 'bosses' })).toContain(
      'role would change from Admin to Owner.',
    );
    expect(await test(organization, { groups: 'ops' })).toContain('would be logged in.</');
    const email = someAddress(organization);
    await logIn(organization, email, { groups: 'ops' });
    await grantRole(service, organization.login, { email }, 'owner');
    await logIn(organization, email, { groups: 'developers' });
    expect((await userAt(email))?.['role']).toBe('member');
    expect(await auditOf(service, { email })).toContain('access_grant.revoke success');
    expect(await auditOf(service, { email })).toContain('user.update success');
    await change(organization, { creates_users: 'yes' });
    await logIn(organization, email, { groups: 'ops' });
    expect((await userAt(email))?.['role']).toBe('member');
  });

  /** A provider whose discovery document says this. */
  const providerWith = async (metadata: Record<string, unknown>): Promise<ForgedProvider> => {
    const started = await ForgedProvider.start();
    opened.push(started);
    return Object.assign(started, { metadata: { ...started.metadata, ...metadata } });
  };
  const opened: ForgedProvider[] = [];
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.close();
  });

  it.each<[supported: string[] | undefined, claim: string, scope: string]>([
    [['openid', 'email', 'profile', 'groups'], 'groups', 'openid email profile groups'],
    [['openid', 'roles'], 'roles', 'openid email profile roles'],
    [['openid', 'groups'], 'memberOf', 'openid email profile groups'],
    [['openid', 'roles'], 'realm_access.roles', 'openid email profile roles'],
    [['openid', 'email'], 'email', 'openid email profile'],
    [['openid'], 'groups', 'openid email profile'],
    [undefined, 'groups', 'openid email profile'],
    [['openid', 'groups'], '', 'openid email profile'],
  ])(
    'are asked for with a scope that the provider lists: of %j for “%s”, %s',
    async (supported, claim, scope) => {
      const own = await providerWith({ scopes_supported: supported });
      const organization = await setUp({ creates_users: 'yes', role_attribute: claim }, own);
      const begun = await new Visitor(service).fill('/login', {
        step: 'address',
        email: someAddress(organization),
      });
      expect(new URL(providerUrl(begun)).searchParams.get('scope')).toBe(scope);
    },
  );

  it('are left out if the provider does not allow the scope to the client, and the login continues', async () => {
    const own = await providerWith({ scopes_supported: ['openid', 'groups'] });
    const organization = await setUp(MAPPED, own);
    const [visitor, email] = [new Visitor(service), someAddress(organization)];
    const refuse = async (url: string): Promise<PageResponse> => {
      const { state } = own.read(url);
      const query = new URLSearchParams({ error: 'invalid_scope', state, iss: own.issuer });
      return visitor.get(`/sso/oidc/${organization.id}?${query.toString()}`);
    };
    const first = providerUrl(
      await visitor.fill('/login', { step: 'address', email, next: '/account/passkeys' }),
    );
    const second = providerUrl(await refuse(first));
    expect(new URL(second).searchParams.get('scope')).toBe('openid email profile');
    const query = own.respondTo(second, claims(email, { groups: 'ops' }));
    const { location } = await visitor.get(`/sso/oidc/${organization.id}?${query.toString()}`);
    expect([location, (await userAt(email))?.['role']]).toEqual(['/account/passkeys', 'admin']);
    const again = providerUrl(
      await refuse(providerUrl(await visitor.fill('/login', { step: 'address', email }))),
    );
    const { status, text } = await refuse(again);
    expect([status, text]).toEqual([403, expect.stringContaining('refused the login (invalid_scope)')]);
  });

  it.each<[what: string, userInfo: ForgedProvider['userInfo'], status: number, role: string | undefined]>([
    ['has it', { status: 200, value: { groups: ['ops'] } }, 303, 'admin'],
    ['does not have it', { status: 200, value: {} }, 303, 'viewer'],
    ['refuses, as that of AD FS does', { status: 401, value: {} }, 303, 'viewer'],
    ['fails', { status: 503, value: {} }, 403, 'admin'],
    ['has too many requests', { status: 429, value: {} }, 403, 'admin'],
  ])(
    'come from the UserInfo endpoint if the ID token lacks the claim: one that %s',
    async (_what, userInfo, status, role) => {
      const own = await providerWith({});
      Object.assign(own.metadata, { userinfo_endpoint: `${own.issuer}/userinfo` });
      const organization = await setUp(MAPPED, own);
      const email = someAddress(organization);
      await logIn(organization, email, { name: 'Ada', groups: 'ops' });
      Object.assign(own, {
        userInfo: { ...userInfo, value: { sub: `sub of ${email}`, ...(userInfo.value as object) } },
      });
      const { response } = await logIn(organization, email, { name: 'Ada' });
      expect([response.status, (await userAt(email))?.['role']]).toEqual([status, role]);
      if (status === 403)
        expect(response.text).toContain(
          'does not contain “groups”, which decides the role, and the UserInfo endpoint',
        );
    },
  );

  it.each<[what: string, sent: Record<string, unknown>, shown: string]>([
    [
      'lacks it',
      {},
      'The identity provider did not send “groups”, which decides the role. Therefore, the role is Viewer.',
    ],
    [
      'lacks it and has another case',
      { Groups: 'ops' },
      'Compare the name with what the identity provider sent',
    ],
    [
      'has no known value',
      { groups: ['x'] },
      '“groups”, which decides the role, has none of the values in the settings.',
    ],
    [
      'has an empty list',
      { groups: [] },
      'has none of the values in the settings. Therefore, the role is Viewer.',
    ],
    [
      'has it elsewhere',
      { _claim_names: { groups: 'src1' }, _claim_sources: {} },
      'the person is in too many groups. This service does not ask there',
    ],
    [
      'has a link to the groups',
      { 'http://schemas.microsoft.com/claims/groups.link': 'https://x' },
      'the person is in too many groups',
    ],
    [
      'says that there are groups',
      { hasgroups: true },
      'the person is in too many groups. This service does not ask there',
    ],
  ])('are explained by a test whose token %s', async (_what, sent, shown) => {
    const organization = await setUp(MAPPED);
    expect(await test(organization, sent)).toContain(shown);
    expect(await test(organization, { groups: 'ops' })).not.toContain('Therefore, the role is Viewer');
  });

  it('are not explained by a test if the provider does not decide them', async () => {
    expect(await test(await setUp())).not.toContain('Therefore, the role is Viewer');
  });

  it('are not changed back if they were changed during the login', async () => {
    const organization = await setUp();
    const { id, email } = await addUserAt(organization, organization.domain);
    const users = service.app.get(DashboardUsersRepository);
    const { login } = await service.app.get(TransactionHost).withTransaction(async () => {
      await users.lockUsersOf(organization.organizationId);
      const started = logIn(organization, email);
      await untilLoginWaits();
      await users.change(id, { role: 'viewer' });
      return { login: started };
    });
    expect((await login).response.location).toBe('/dashboard');
    expect((await userAt(email))?.['role']).toBe('viewer');
  });

  it('stay the same for the last owner and for break-glass owners', async () => {
    const organization = await setUp(MAPPED);
    const [first, second] = [someAddress(organization), someAddress(organization)];
    for (const email of [first, second]) await logIn(organization, email, { groups: 'bosses' });
    await service.database.query('UPDATE dashboard_user SET is_break_glass = true WHERE email = $1', [first]);
    for (const email of [first, second]) await logIn(organization, email, { groups: 'ops' });
    expect([(await userAt(first))?.['role'], (await userAt(second))?.['role']]).toEqual(['owner', 'admin']);

    await service.database.query('UPDATE dashboard_user SET is_break_glass = false WHERE email = $1', [
      first,
    ]);
    await service.database.query(
      `UPDATE dashboard_user SET role = 'admin' WHERE organization_id = $1 AND email <> $2`,
      [organization.organizationId, first],
    );
    await logIn(organization, first, { groups: 'ops' });
    expect((await userAt(first))?.['role']).toBe('owner');
  });
});

describe('Single sign-on that is required', () => {
  const ownerOf = async ({
    login: { email },
  }: Pick<Owner, 'login'>): Promise<{ id: string; email: string }> => ({
    id: String((await userAt(email))?.['id']),
    email,
  });

  it('makes the only owner a break-glass owner, and refuses the passwords of everybody else', async () => {
    const organization = await setUp();
    const user = await addUserAt(organization, organization.domain);
    await change(organization, { required: 'yes' });
    expect(await userAt(organization.login.email)).toMatchObject({ is_break_glass: true });

    const visitor = new Visitor(service);
    const { status, text } = await visitor.logIn(user.email, user.password);
    expect([status, visitor.session]).toEqual([403, undefined]);
    expect(text).toContain(REFUSED);
    expect(text).toContain('Your organization uses single sign-on');
    expect((await logIn(organization, user.email)).response.status).toBe(303);

    const owner = await addUserAt(organization, organization.domain);
    await service.database.query(
      `UPDATE dashboard_user SET role = 'owner', is_break_glass = true WHERE id = $1`,
      [owner.id],
    );
    expect((await new Visitor(service).logIn(owner.email, owner.password)).location).toBe('/dashboard');
  });

  it('warns before it is required, if the provider does not prove that logins are recent', async () => {
    const organization = await setUp();
    const warning = 'let them add one before you require single sign-on';
    expect((await organization.visitor.get(SETTINGS)).text).toContain(warning);
    await test(organization, { auth_time: Math.floor(Date.now() / 1_000) });
    expect((await organization.visitor.get(SETTINGS)).text).not.toContain(warning);
  });

  it('lets a passkey prove that a login is recent, until the session ends, if the provider cannot', async () => {
    const organization = await setUp();
    const user = await addUserAt(organization, organization.domain);
    const before = new Visitor(service);
    await before.logIn(user.email, user.password);
    const authenticator = new Authenticator('https://dashboard.example.com');
    const optionsOn = async <Options>(visitor: Visitor, page: string, action = page): Promise<Options> => {
      await visitor.get(page);
      return JSON.parse((await visitor.submit(`${action}/options`)).text) as Options;
    };
    const created = authenticator.create(await optionsOn<CreationOptions>(before, '/account/passkeys'));
    await before.submit('/account/passkeys', { name: 'Laptop', credential: created });
    await before.submit('/logout');
    await change(organization, { required: 'yes' });

    const usePasskey = async (visitor: Visitor): Promise<PageResponse> => {
      const options = await optionsOn<RequestOptions>(visitor, '/login?again=page', '/login/passkey');
      return visitor.submit('/login/passkey', { credential: authenticator.get(options) });
    };
    expect((await usePasskey(new Visitor(service))).status).toBe(403);
    const { visitor } = await logIn(organization, user.email);
    const endOf = (): Promise<unknown> =>
      service.database.query('SELECT expires_at FROM dashboard_session WHERE user_id = $1', [user.id]);
    const end = await endOf();
    expect(await visitor.hasRecentLogin()).toBe(false);
    expect((await usePasskey(visitor)).status).toBe(303);
    expect(await visitor.hasRecentLogin()).toBe(true);
    expect(await endOf()).toEqual(end);
  });

  it('ends a login whose first step was the password, and not one that began at the provider', async () => {
    const organization = await setUp();
    const { email, password, id } = await addUserAt(organization, organization.domain);
    const before = new Visitor(service);
    await before.logIn(email, password);
    const secret = await setUpSecondFactor(before);
    const enterCode = async (visitor: Visitor): Promise<PageResponse> => {
      await service.app.get(DashboardUsersRepository).change(id, { totpLastStep: null });
      return visitor.fill('/login/second-factor', { code: totpCode(secret, Date.now()) });
    };
    const visitor = new Visitor(service);
    expect((await visitor.logIn(email, password)).location).toMatch(/^\/login\/second-factor/);
    await change(organization, { required: 'yes' });
    expect((await enterCode(visitor)).location).toBe('/login?again=code');
    expect((await visitor.get('/account')).status).toBe(303);
    const { visitor: atProvider } = await logIn(organization, email);
    expect((await enterCode(atProvider)).location).toBe('/dashboard');
  });

  it('sends no links for passwords, and no longer accepts those that were sent', async () => {
    const organization = await setUp();
    const user = await addUserAt(organization, organization.domain);
    const request = async () => {
      await service.app
        .get(PasswordResetsService)
        .request(user.email, { ip: '127.0.0.1', userAgent: 'test' });
      await service.app.get(PasswordResetsJob).run();
    };
    await request();
    const [, token = ''] =
      /confirm\?token=([\w-]{43})/.exec(await mailTo(service, user.email, 'Set a new password')) ?? [];
    await change(organization, { required: 'yes' });
    const visitor = new Visitor(service);
    const shown = await visitor.get(`/password-reset/confirm?token=${token}`);
    expect(shown.text).toContain('Log in with single sign-on');
    const password = randomBytes(12).toString('hex');
    const { status } = await visitor.submit('/password-reset/confirm', {
      token,
      password,
      repeated: password,
    });
    expect(status).not.toBe(303);
    const before = (await mailsTo(service, user.email)).length;
    await request();
    const email = someAddress(organization);
    await organization.visitor.fill('/dashboard/users/invitations/new', {
      email,
      name: 'Ada',
      role: 'member',
    });
    const invitation = await mailTo(service, email, 'Your invitation');
    expect(invitation).toContain('https://dashboard.example.com/login');
    expect(invitation).not.toContain('token=');
    expect(await mailsTo(service, user.email)).toHaveLength(before);
  });

  it('needs a provider that is enabled and was tested', async () => {
    const organization = await setUp();
    await organization.visitor.fill(`${SSO_PATH}/${organization.id}/disable`, {});
    const { status, text } = await change(organization, { required: 'yes' });
    expect([status, text]).toEqual([400, expect.stringContaining('Enable an identity provider, and test')]);
  });

  it('needs a test that began after the last change of the provider, except of its name', async () => {
    const organization = await setUp();
    const { visitor, id, domain } = organization;
    const page = `${SSO_PATH}/${id}`;
    const answerOf = async () => (await change(organization, { required: 'yes' })).location;
    await visitor.fill(`${page}/change`, { name: 'Another name' });
    expect((await visitor.get(page)).text).not.toContain('Not yet');
    const { email } = await addUserAt(organization, domain);
    await visitor.get(page);
    const url = providerUrl(await visitor.submit(`${page}/test`));
    await visitor.fill(`${page}/change`, { name: 'Another name', client_secret: 'wrong' });
    const query = provider.respondTo(url, claims(email)).toString();
    const late = await visitor.get(`/sso/oidc/${id}?${query}`);
    expect([late.status, late.text]).toEqual([403, expect.stringContaining('changed after the test login')]);
    expect((await visitor.get(page)).text).toContain('Not yet');
    expect(await answerOf()).toBeNull();
    await visitor.fill(`${page}/disable`, {});
    expect((await visitor.fill(`${page}/enable`, {})).text).toContain('No test login has succeeded yet');
    await test(organization);
    await visitor.fill(`${page}/enable`, {});
    expect(await answerOf()).toBe(`${SETTINGS}?done=changed`);
  });

  it('is not in force after a change of the provider until a test succeeds, and the settings say so', async () => {
    const organization = await setUp({ required: 'yes' });
    const { visitor, id, domain } = organization;
    const user = await addUserAt(organization, domain);
    const logInWithPassword = async () =>
      (await new Visitor(service).logIn(user.email, user.password)).status;
    const warning = 'was changed after its last test login';
    expect([await logInWithPassword(), (await visitor.get(SETTINGS)).text.includes(warning)]).toEqual([
      403,
      false,
    ]);
    await visitor.fill(`${SSO_PATH}/${id}/change`, { name: 'Example login', client_secret: 'wrong' });
    expect([await logInWithPassword(), (await visitor.get(SETTINGS)).text.includes(warning)]).toEqual([
      303,
      true,
    ]);
    await test(organization);
    expect([await logInWithPassword(), (await visitor.get(SETTINGS)).text.includes(warning)]).toEqual([
      403,
      false,
    ]);
  });

  it('needs a test by somebody who still has the role when it ends', async () => {
    const organization = await setUp();
    const { id, organizationId, domain } = organization;
    const page = `${SSO_PATH}/${id}`;
    await organization.visitor.fill(`${page}/change`, {
      name: 'Example login',
      client_secret: provider.clientSecret,
    });
    const tester = await visitorWithRole(service, 'admin', organizationId);
    await tester.get(page);
    const url = providerUrl(await tester.submit(`${page}/test`));
    await service.app.get(DashboardUsersRepository).change(tester.login.userId, { role: 'member' });
    const { email } = await addUserAt(organization, domain);
    const query = provider.respondTo(url, claims(email)).toString();
    const refused = await tester.get(`/sso/oidc/${id}?${query}`);
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('you lost the role')]);
    expect((await organization.visitor.get(page)).text).toContain('Not yet');
  });

  it('is not in force while no provider is enabled', async () => {
    const organization = await setUp({ required: 'yes' });
    const user = await addUserAt(organization, organization.domain);
    await organization.visitor.fill(`${SSO_PATH}/${organization.id}/disable`, {});
    expect((await new Visitor(service).logIn(user.email, user.password)).location).toBe('/dashboard');
  });

  it('keeps sessions when a domain loses its proof, and then only break-glass owners can log in', async () => {
    const organization = await setUp({ required: 'yes' });
    const user = await addUserAt(organization, organization.domain);
    const { visitor } = await logIn(organization, user.email);
    await service.database.query('UPDATE allowlisted_domain SET proved_at = NULL WHERE domain = $1', [
      organization.domain,
    ]);
    expect((await visitor.get('/account')).status).toBe(200);
    const next = new Visitor(service);
    expect((await next.fill('/login', { step: 'address', email: user.email })).text).toContain(
      'name="password"',
    );
    expect((await next.logIn(user.email, user.password)).text).toContain(REFUSED);
  });

  it('says what happens without the proof of a domain, on the pages and in one email on the first day', async () => {
    const organization = await setUp();
    const { visitor, domain, organizationId, id } = organization;
    const [entry] = await service.database.query<{ id: string }>(
      'SELECT id FROM allowlisted_domain WHERE domain = $1',
      [domain],
    );
    const pages = async () => {
      const paths = ['remove', 'proof'].map((page) => `/dashboard/allowed-domains/${entry?.id}/${page}`);
      return Promise.all(paths.map(async (path) => (await visitor.get(path)).text));
    };
    for (const text of await pages())
      expect(text).toContain(`in ${domain} then log in with their passwords.`);
    const user = await addUserAt(organization, domain);
    expect((await logIn(organization, user.email)).response.location).toBe('/dashboard');
    await change(organization, { required: 'yes' });
    const begin = `/sso/oidc/${id}/login`;
    for (const text of await pages()) {
      expect(text).toContain('can then no longer log in on the login page');
      expect(text).toContain(`https://dashboard.example.com${begin}`);
    }
    const mails = async () =>
      (await mailsTo(service, organization.login.email)).filter((mail) => mail.includes('is missing'));
    dns.set(`_merchant-connectivity.${domain}`, { txt: [] });
    for (const day of [1, 2, 3]) {
      using _clock = moveClock(service, day * DAY);
      await service.app.get(DomainProofsJob).run();
      expect([day, (await mails()).length]).toEqual([day, 1]);
    }
    expect((await visitor.get('/dashboard/allowed-domains')).text).toContain('Record missing');
    expect((await mails())[0]).toContain('Your organization requires single sign-on');
    {
      using _clock = moveClock(service, 4 * DAY);
      await service.app.get(DomainProofsJob).run();
    }
    const rows = await service.database.query(
      'SELECT FROM allowlisted_domain WHERE organization_id = $1 AND proved_at IS NOT NULL',
      [organizationId],
    );
    expect(rows).toEqual([]);
    // The users whom the provider knows can begin without the domain.
    const next = new Visitor(service);
    expect((await next.get(begin)).text).toContain('Continue to log in at the identity provider');
    const url = providerUrl(await next.submit(begin));
    const query = provider.respondTo(url, claims(user.email)).toString();
    expect((await next.get(`/sso/oidc/${id}?${query}`)).location).toBe('/dashboard');
  });

  it('keeps one break-glass owner: no page disables, removes, demotes or unmarks the last one', async () => {
    const organization = await setUp({ required: 'yes' });
    const { id, email } = await ownerOf(organization);
    const another = await visitorWithRole(service, 'owner', organization.organizationId);
    await another.get(`/dashboard/users/${id}`);
    const attempts = [
      await another.fill(`/dashboard/users/${id}/change`, { name: 'Ada', role: 'admin' }),
      await another.fill(`/dashboard/users/${id}/disable`, {}),
      await another.fill(`/dashboard/users/${id}/remove`, {}),
      await another.fill(SETTINGS, { user_id: id, mark: 'no' }, `${SETTINGS}/break-glass`),
    ];
    for (const { status, text } of attempts)
      expect([status, text]).toEqual([400, expect.stringContaining('last break-glass owner')]);
    expect(await userAt(email)).toMatchObject({ is_break_glass: true });
  });

  it('lets owners log in only through a provider that an owner enabled, and has not changed since', async () => {
    const organization = await setUp();
    const admin = await visitorWithRole(service, 'admin', organization.organizationId);
    const boss = await addUserAt(organization, organization.domain);
    await service.app.get(DashboardUsersRepository).change(boss.id, { role: 'owner' });
    const page = `${SSO_PATH}/${organization.id}`;
    const enableBy = async (visitor: Visitor): Promise<void> => {
      await visitor.fill(`${page}/disable`, {});
      expect((await visitor.fill(`${page}/enable`, {})).location).toContain('done=enabled');
    };
    await enableBy(admin);
    const { response } = await logIn(organization, boss.email);
    expect([response.status, response.text]).toEqual([
      403,
      expect.stringContaining('an owner has enabled it'),
    ]);
    const colleague = await addUserAt(organization, organization.domain);
    expect((await logIn(organization, colleague.email)).response.location).toBe('/dashboard');
    await enableBy(organization.visitor);
    expect((await logIn(organization, boss.email)).response.location).toBe('/dashboard');
    expect((await admin.fill(`${page}/change`, { name: 'Another name' })).location).toContain('done=');
    expect((await logIn(organization, boss.email)).response.location).toBe('/dashboard');
    await admin.fill(`${page}/change`, { name: 'Example login', client_secret: provider.clientSecret });
    expect((await logIn(organization, boss.email)).response.status).toBe(403);
  });

  it('lets users with a grant of the role owner log in only through a provider that an owner enabled', async () => {
    const organization = await setUp();
    await enableAs(organization, 'admin');
    const user = await addUserAt(organization, organization.domain);
    const grant = await grantRole(service, organization.login, user, 'owner');
    const { response } = await logIn(organization, user.email);
    expect([response.status, response.text]).toEqual([
      403,
      expect.stringContaining('an owner has enabled it'),
    ]);
    // Like other owners, they can then still use their passwords.
    await change(organization, { required: 'yes' });
    expect((await new Visitor(service).logIn(user.email, user.password)).location).toBe('/dashboard');
    await submitForm(service, organization.login, `/dashboard/access-grants/${grant}/revoke`);
    expect((await new Visitor(service).logIn(user.email, user.password)).status).toBe(403);
    expect((await logIn(organization, user.email)).response.location).toBe('/dashboard');
  });

  it.each<{ what: string; approver: DashboardRole; status: number }>([
    { what: 'the rights of an admin', approver: 'admin', status: 403 },
    { what: 'all rights', approver: 'owner', status: 303 },
  ])(
    'leaves a user who becomes an owner $what in sessions from a provider that an $approver approved',
    async ({ approver, status }) => {
      const organization = await setUp();
      await enableAs(organization, approver);
      const { organizationId, login } = organization;
      const user = await addUserAt(organization, organization.domain);
      const other = await service.login('admin', organizationId);
      const { visitor } = await logInNow(organization, user.email);

      const authenticator = await addPasskey(visitor);

      const beforeFactor = new Visitor(service);
      await beforeFactor.logIn(user.email, user.password);
      const secret = await setUpSecondFactor(beforeFactor);
      const enterCode = async (each: Visitor): Promise<void> => {
        await service.app.get(DashboardUsersRepository).change(user.id, { totpLastStep: null });
        const code = totpCode(secret, Date.now());
        expect((await each.fill('/login/second-factor', { code })).status).toBe(303);
      };
      const { visitor: inTwoSteps, response } = await logInNow(organization, user.email);
      expect(response.location).toMatch(/^\/login\/second-factor/);
      await enterCode(inTwoSteps);

      const [client] = await service.database.query<{ clientId: string }>(
        `SELECT id AS "clientId" FROM api_client WHERE organization_id = $1 AND environment = 'development'`,
        [organizationId],
      );
      const session = { cookie: `session=${visitor.session}` };
      const approve = async (): Promise<TestResponse> => {
        const flow = await startFlow(service, client);
        await decide(service, session, flow.user_code);
        return poll(service, flow, client);
      };
      const token = String((await approve()).body['access_token']);
      rememberSecret(token);
      expect((await service.request('/me', { token })).status).toBe(200);
      await grantRole(service, login, user, 'owner');
      expect((await service.request('/me', { token })).status).toBe(401);
      expect((await approve()).status).toBe(approver === 'owner' ? 200 : 400);

      const { visitor: withPasskey, response: opened } = await logInWithPasskey(authenticator);
      expect(opened.status).toBe(303);

      for (const each of [visitor, inTwoSteps, withPasskey]) {
        const change = await each.fill(`/dashboard/users/${other.userId}/change`, { role: 'owner' });
        expect(change.status).toBe(status);
        await service.app.get(DashboardUsersRepository).change(other.userId, { role: 'admin' });
        expect((await each.get('/dashboard/users')).status).toBe(200);
      }
      expect((await visitor.get('/account')).text).toContain(approver === 'owner' ? 'Owner:' : 'Admin:');
      const password = new Visitor(service);
      await password.logIn(user.email, user.password);
      await enterCode(password);
      expect((await password.get('/account')).text).toContain('Owner:');
    },
  );

  it('lets only owners decide who becomes an owner, and whether a login counts as two factors', async () => {
    const organization = await setUp({ role_attribute: 'groups', owner_values: 'bosses' });
    const admin = await visitorWithRole(service, 'admin', organization.organizationId);
    const settings: Record<string, string> = { role_attribute: 'groups', owner_values: 'bosses' };
    for (const changed of [{ owner_values: 'ops' }, { role_attribute: 'email' }, { is_two_factor: 'yes' }]) {
      const { status, text } = await admin.fill(SETTINGS, Object.assign({}, settings, changed));
      expect([status, text]).toEqual([403, expect.stringContaining('Only an owner may decide')]);
    }
    const { location } = await admin.fill(SETTINGS, { ...settings, member_values: 'devs' });
    expect(location).toBe(`${SETTINGS}?done=changed`);
    // Without values for owners, everybody would get another role.
    await change(organization, { role_attribute: '' });
    expect((await admin.fill(SETTINGS, { role_attribute: 'groups', admin_values: 'ops' })).status).toBe(403);
  });

  it('lets owners in only if their accounts were linked through a provider that an owner had enabled', async () => {
    const organization = await setUp();
    const { visitor, domain } = organization;
    const { email, id } = await addUserAt(organization, domain);
    await enableAs(organization, 'admin');
    expect((await logIn(organization, email)).response.location).toBe('/dashboard');
    await enableAs(organization, 'owner');
    await service.app.get(DashboardUsersRepository).change(id, { role: 'owner' });
    const { response } = await logIn(organization, email);
    expect([response.status, response.text]).toEqual([403, expect.stringContaining('no owner had approved')]);
    await visitor.fill(`/dashboard/users/${id}/unlink`, {});
    expect((await logIn(organization, email)).response.location).toBe('/dashboard');
  });

  it('lets only owners mark users, and only owners be marked', async () => {
    const organization = await setUp();
    const admin = await visitorWithRole(service, 'admin', organization.organizationId);
    const { id } = await ownerOf(organization);
    const mark = (visitor: Visitor, user_id: string) =>
      visitor.fill(SETTINGS, { user_id, mark: 'yes' }, `${SETTINGS}/break-glass`);
    expect((await mark(admin, id)).status).toBe(403);
    const refused = await admin.fill(SETTINGS, { required: 'yes' });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('No owner is marked')]);
    const elsewhere = await newOwner(service);
    const adminId = String((await userAt(admin.login.email))?.['id']);
    for (const user of [adminId, (await ownerOf(elsewhere)).id])
      expect((await mark(organization.visitor, user)).status).toBe(404);
    expect((await mark(organization.visitor, id)).location).toBe(`${SETTINGS}?done=marked`);
  });

  it('lets users manage their second factor after a recent login at the provider, without a password', async () => {
    const organization = await setUp({ required: 'yes' });
    const { email } = await addUserAt(organization, organization.domain);
    const now = Math.floor(Date.now() / 1_000);
    const { visitor: late } = await logIn(organization, email, { auth_time: now - 3_600 });
    const { visitor } = await logIn(organization, email, { auth_time: now });
    for (const each of [late, visitor]) await each.get(FACTOR);
    expect((await late.submit(`${FACTOR}/setup`)).location).toContain('&again=page');
    await setUpSecondFactor(visitor);
    const { text } = await visitor.get(FACTOR);
    expect(text).toContain('Turn off');
    expect(text).not.toContain('Your password');
    expect((await visitor.submit(`${FACTOR}/recovery-codes`)).text).toContain('no longer work');
    expect((await late.submit(`${FACTOR}/disable`)).location).toMatch(/^\/login\/again\?/);
    await visitor.get(FACTOR);
    expect((await visitor.submit(`${FACTOR}/disable`)).location).toBe(FACTOR);
    expect((await visitor.get(FACTOR)).text).toContain('<strong>off</strong>');
  });

  it('lets an operator end the requirement, and records it', async () => {
    const organization = await setUp({ required: 'yes' });
    const user = await addUserAt(organization, organization.domain);
    expect(await service.app.get(SsoSettingsService).allowPasswords(organization.organizationId)).toBe(true);
    expect(await service.app.get(SsoSettingsService).allowPasswords(organization.organizationId)).toBe(false);
    expect((await new Visitor(service).logIn(user.email, user.password)).location).toBe('/dashboard');
  });
});

describe('A login at the provider', () => {
  it('of OpenID Connect is not accepted in the form of SAML, which has no cookies', async () => {
    const organization = await setUp();
    const { email } = await addUserAt(organization, organization.domain);
    const visitor = new Visitor(service);
    const url = providerUrl(await visitor.fill('/login', { step: 'address', email }));
    const query = provider.respondTo(url, claims(email));
    const form = { RelayState: query.get('state') ?? '', SAMLResponse: `?${query.toString()}` };
    const { status, location } = await visitor.submit(`/sso/saml/${organization.id}`, form);
    expect([status, location]).toEqual([403, null]);
  });

  it('that was unlinked ends with all its sessions and devices', async () => {
    const organization = await setUp();
    const { email, id } = await addUserAt(organization, organization.domain);
    const { visitor } = await logIn(organization, email);
    const users = service.app.get(DashboardUsersRepository);
    const version = (await users.find(id))?.accessVersion ?? 0;
    await organization.visitor.fill(`/dashboard/users/${id}/unlink`, {});
    expect((await visitor.get('/account')).status).toBe(303);
    expect((await users.find(id))?.accessVersion).toBe(version + 1);
  });

  it('that was unlinked leaves no passkey behind that was added while no owner approved the provider', async () => {
    const organization = await setUp();
    const { visitor: owner, domain, login: ownerLogin } = organization;
    const user = await addUserAt(organization, domain);
    const withPassword = new Visitor(service);
    await withPassword.logIn(user.email, user.password);
    const own = await addPasskey(withPassword, 'Laptop');
    await enableAs(organization, 'admin');
    const { visitor } = await logInNow(organization, user.email);
    const [first, second] = [await addPasskey(visitor, 'Phone'), await addPasskey(visitor, 'Tablet')];
    const { visitor: withPasskey } = await logInWithPasskey(first);

    await owner.fill(`/dashboard/users/${user.id}/unlink`, {});
    expect((await withPasskey.get('/account')).status).toBe(303);
    for (const each of [first, second]) expect((await logInWithPasskey(each)).response.status).toBe(403);
    expect((await logInWithPasskey(own)).response.status).toBe(303);
    expect(
      await service.database.query(
        `SELECT target_name, changes FROM audit_log WHERE action = 'auth.passkey_remove' AND actor_email = $1`,
        [ownerLogin.email],
      ),
    ).toEqual([{ target_name: user.email, changes: [{ field: 'passkeys', from: 'Phone, Tablet', to: '' }] }]);
    expect(await mailsTo(service, user.email)).toEqual(
      expect.arrayContaining([expect.stringContaining('A passkey was removed from your account')]),
    );
  });

  it('through a provider that an owner enabled keeps its passkeys when it is unlinked', async () => {
    const organization = await setUp();
    const { email, id } = await addUserAt(organization, organization.domain);
    const authenticator = await addPasskey((await logInNow(organization, email)).visitor);
    await organization.visitor.fill(`/dashboard/users/${id}/unlink`, {});
    expect((await logInWithPasskey(authenticator)).response.status).toBe(303);
  });

  it('leaves no session or passkey behind that was made while it was unlinked', async () => {
    const organization = await setUp();
    const { id, email } = await addUserAt(organization, organization.domain);
    await enableAs(organization, 'admin');
    const { visitor } = await logInNow(organization, email);
    const first = await addPasskey(visitor);
    const second = new Authenticator('https://dashboard.example.com');
    const passkeys = '/account/passkeys';
    await visitor.get(passkeys);
    const created = second.create(
      JSON.parse((await visitor.submit(`${passkeys}/options`)).text) as CreationOptions,
    );
    const page = `/dashboard/users/${id}`;
    await organization.visitor.get(`${page}/unlink`);
    const unlinked = await changeInTurn(service, { id }, [
      async () => (await logInWithPasskey(first)).response,
      () => visitor.submit(passkeys, { name: 'Tablet', credential: created }),
      () => organization.visitor.submit(`${page}/unlink`),
    ]);
    expect(unlinked?.location).toBe(`${page}?done=unlink`);
    expect(await sessionsOf(service, { id })).toBe(0);
    expect(await service.database.query('SELECT 1 FROM passkey WHERE user_id = $1', [id])).toEqual([]);
  });

  it('that no owner approved cannot set up a second factor or create recovery codes', async () => {
    const organization = await setUp();
    const user = await addUserAt(organization, organization.domain);
    const refusal = 'an identity provider that no owner has approved';
    const refused = ({ status, text }: PageResponse): void =>
      expect([status, text]).toEqual([403, expect.stringContaining(refusal)]);
    await enableAs(organization, 'admin');
    const { visitor } = await logInNow(organization, user.email);
    const { visitor: withPasskey } = await logInWithPasskey(await addPasskey(visitor));
    for (const each of [visitor, withPasskey]) {
      const page = await each.fill(FACTOR, {}, `${FACTOR}/setup`);
      refused(page);
      expect(page.text).toContain('Set up two-factor authentication');
    }

    // A secret that was prepared in the same browser before cannot be enabled either.
    const browser = new Visitor(service);
    await browser.logIn(user.email, user.password);
    await browser.fill(FACTOR, {}, `${FACTOR}/setup`);
    const { text } = await browser.get(`${FACTOR}/setup`);
    const secret = (/<code class="secret">([A-Z2-7 ]+)</.exec(text)?.[1] ?? '').replaceAll(' ', '');
    rememberSecret(secret);
    const { visitor: sameBrowser } = await logIn(
      organization,
      user.email,
      { auth_time: Math.floor(Date.now() / SECOND) },
      browser,
    );
    await sameBrowser.get(`${FACTOR}/setup`);
    refused(await sameBrowser.submit(`${FACTOR}/enable`, { code: totpCode(secret, Date.now()) }));
    expect((await service.app.get(DashboardUsersRepository).find(user.id))?.totpEnabledAt).toBeNull();

    await service.app.get(DashboardUsersRepository).change(user.id, { totpEnabledAt: new Date() });
    await visitor.get(FACTOR);
    refused(await visitor.submit(`${FACTOR}/recovery-codes`, { password: user.password }));
  });

  it('counts as two factors only if the organization says so', async () => {
    const organization = await setUp();
    const user = await addUserAt(organization, organization.domain);
    await service.database.query(
      'UPDATE organization SET second_factor_required_from = now() WHERE id = $1',
      [organization.organizationId],
    );
    const account = async () =>
      (await (await logIn(organization, user.email)).visitor.get('/dashboard/development')).status;
    expect(await account()).not.toBe(200);
    await service.database.query(
      `INSERT INTO sso_setting VALUES ($1, false, NULL, '{}', '{}', '{}', true, NULL)`,
      [organization.organizationId],
    );
    expect(await account()).toBe(200);
    await service.app.get(DashboardUsersRepository).change(user.id, { totpEnabledAt: new Date() });
    expect((await logIn(organization, user.email)).response.location).toBe('/dashboard');
  });

  it('counts as two factors only through a provider that an owner enabled', async () => {
    const organization = await setUp({ is_two_factor: 'yes' });
    const user = await addUserAt(organization, organization.domain);
    await service.app.get(DashboardUsersRepository).change(user.id, { totpEnabledAt: new Date() });
    for (const [role, location] of [
      ['admin', '/login/second-factor'],
      ['owner', '/dashboard'],
    ] as const) {
      await enableAs(organization, role);
      expect((await logIn(organization, user.email)).response.location).toBe(location);
    }
  });

  it('no longer counts as two factors in open sessions once an owner says so', async () => {
    const organization = await setUp({ is_two_factor: 'yes' });
    await service.database.query(
      'UPDATE organization SET second_factor_required_from = now() WHERE id = $1',
      [organization.organizationId],
    );
    // Operators can add more users than the dashboard can.
    await service.database.query(
      `INSERT INTO dashboard_user (id, organization_id, email, name, role, created_at)
       SELECT gen_random_uuid(), $1::text::uuid, number || '@' || $1::text || '.example', 'User', 'member', now() - interval '1 day'
         FROM generate_series(1, 1000) AS number`,
      [organization.organizationId],
    );
    const { email } = await addUserAt(organization, organization.domain);
    const { visitor } = await logIn(organization, email);
    const page = '/dashboard/development';
    expect((await visitor.get(page)).status).toBe(200);
    await setUpSecondFactor(organization.visitor);
    expect((await change(organization, {})).location).toBe(`${SETTINGS}?done=changed`);
    expect((await visitor.get(page)).status).not.toBe(200);
  });

  it('that was unlinked while its session was being opened ends with the link', async () => {
    const organization = await setUp();
    const { id, email } = await addUserAt(organization, organization.domain);
    await logIn(organization, email);
    const visitor = new Visitor(service);
    const url = providerUrl(await visitor.fill('/login', { step: 'address', email }));
    const query = provider.respondTo(url, claims(email));
    const page = `/dashboard/users/${id}`;
    await organization.visitor.get(`${page}/unlink`);
    const unlinked = await changeInTurn(service, { id }, [
      () => visitor.get(`/sso/oidc/${organization.id}?${query.toString()}`),
      () => organization.visitor.submit(`${page}/unlink`),
    ]);
    expect(unlinked?.location).toBe(`${page}?done=unlink`);
    expect(await sessionsOf(service, { id })).toBe(0);
  });
});
