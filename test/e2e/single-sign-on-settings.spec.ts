import { randomBytes } from 'node:crypto';
import { TransactionHost } from '@nestjs-cls/transactional';
import { PasswordLinksService } from '../../src/modules/dashboard-login/index.js';
import { DashboardUsersRepository } from '../../src/modules/dashboard-users/index.js';
import { SsoSettingsService } from '../../src/modules/single-sign-on/index.js';
import { Authenticator, type CreationOptions, type RequestOptions } from '../support/authenticator.js';
import { auditOf, disable, sessionsOf } from '../support/dashboard-users.js';
import { startDnsServer, type DnsServer } from '../support/dns-server.js';
import { eventually } from '../support/eventually.js';
import { ForgedProvider } from '../support/forged-provider.js';
import { mailsTo, mailTo } from '../support/mails.js';
import { rememberSecret } from '../support/run-directory.js';
import {
  addProvider,
  addUserAt,
  newOwner,
  proveDomain,
  providerUrl,
  SSO_PATH,
  type Owner,
  ssoSettings,
} from '../support/single-sign-on.js';
import { countOf, startTestApp, type TestApp } from '../support/test-app.js';
import { totpCode } from '../support/totp.js';
import { Visitor, visitorWithRole, type PageResponse } from '../support/visitor.js';

const SETTINGS = '/dashboard/single-sign-on-settings';
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
}

/** A new organization with a proved domain, a tested provider that is enabled, and these settings. */
async function setUp(settings: Record<string, string> = {}): Promise<Organization> {
  const owner = await newOwner(service);
  const domain = await proveDomain(owner, dns);
  const id = await addProvider(owner, provider);
  const organization = { ...owner, domain, id };
  await test(organization);
  await owner.visitor.fill(`${SSO_PATH}/${id}/enable`, {});
  if (Object.keys(settings).length > 0)
    expect((await change(organization, settings)).location).toBe(`${SETTINGS}?done=changed`);
  return organization;
}

/** Logs in at the provider to test it, as a user of the organization. @returns the page that shows what a login would do */
async function test(organization: Organization, more: Record<string, unknown> = {}): Promise<string> {
  const { visitor, domain, id } = organization;
  const { email } = await addUserAt(organization, domain);
  await visitor.get(`${SSO_PATH}/${id}`);
  const url = providerUrl(await visitor.submit(`${SSO_PATH}/${id}/test`));
  const query = provider.respondTo(url, claims(email, more));
  return (await visitor.get(`/sso/oidc/${id}?${query.toString()}`)).text;
}

const change = ({ visitor }: Organization, settings: Record<string, string>): Promise<PageResponse> =>
  visitor.fill(SETTINGS, settings);

function claims(email: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { sub: `sub of ${email}`, email, ...more };
}

const someAddress = ({ domain }: Organization): string => `${randomBytes(6).toString('hex')}@${domain}`;

async function logIn(
  { id }: Organization,
  email: string,
  more: Record<string, unknown> = {},
): Promise<{ visitor: Visitor; response: PageResponse }> {
  const visitor = new Visitor(service);
  const url = providerUrl(await visitor.fill('/login', { step: 'address', email }));
  const query = provider.respondTo(url, claims(email, more));
  return { visitor, response: await visitor.get(`/sso/oidc/${id}?${query.toString()}`) };
}

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

  it('changes at the next login if the provider decides it, and never otherwise', async () => {
    const organization = await setUp(MAPPED);
    expect(await test(organization, { groups: 'bosses' })).toContain(
      'role would change from Admin to Owner.',
    );
    expect(await test(organization, { groups: 'ops' })).toContain('would be logged in.</');
    const email = someAddress(organization);
    await logIn(organization, email, { groups: 'ops' });
    await logIn(organization, email, { groups: 'developers' });
    expect((await userAt(email))?.['role']).toBe('member');
    expect(await auditOf(service, { email })).toContain('user.update success');
    await change(organization, { creates_users: 'yes' });
    await logIn(organization, email, { groups: 'ops' });
    expect((await userAt(email))?.['role']).toBe('member');
  });

  it('are not changed back if they were changed during the login', async () => {
    const organization = await setUp();
    const { id, email } = await addUserAt(organization, organization.domain);
    const users = service.app.get(DashboardUsersRepository);
    const { login } = await service.app.get(TransactionHost).withTransaction(async () => {
      await users.lockUsersOf(organization.organizationId);
      const started = logIn(organization, email);
      await eventually('the login to wait', async () => {
        const waiting = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
        return (await service.database.query(waiting)).length > 0;
      });
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
    const isRecent = async (): Promise<boolean> =>
      (await visitor.get('/dashboard/users/invitations/new')).status === 200;
    const endOf = (): Promise<unknown> =>
      service.database.query('SELECT expires_at FROM dashboard_session WHERE user_id = $1', [user.id]);
    const end = await endOf();
    expect(await isRecent()).toBe(false);
    expect((await usePasskey(visitor)).status).toBe(303);
    expect(await isRecent()).toBe(true);
    expect(await endOf()).toEqual(end);
  });

  it('sends no links for passwords, and no longer accepts those that were sent', async () => {
    const organization = await setUp();
    const user = await addUserAt(organization, organization.domain);
    const links = service.app.get(PasswordLinksService);
    const request = async () => {
      await links.requestReset(user.email, { ip: '127.0.0.1', userAgent: 'test' });
      await links.run();
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
    expect((await visitor.submit(`${FACTOR}/setup`)).location).toBe(`${FACTOR}/setup`);
    const { text: setup } = await visitor.get(`${FACTOR}/setup`);
    const secret = (/<code class="secret">([A-Z2-7 ]+)</.exec(setup)?.[1] ?? '').replaceAll(' ', '');
    rememberSecret(secret);
    expect((await visitor.submit(`${FACTOR}/enable`, { code: totpCode(secret, Date.now()) })).status).toBe(
      200,
    );
    const { text } = await visitor.get(FACTOR);
    expect(text).toContain('Turn off');
    expect(text).not.toContain('Your password');
    expect((await visitor.submit(`${FACTOR}/recovery-codes`)).text).toContain('no longer work');
    expect((await late.submit(`${FACTOR}/disable`)).location).toContain('again=form');
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
});
