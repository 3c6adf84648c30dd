import { randomBytes, randomUUID } from 'node:crypto';
import type { Configuration } from 'openid-client';
import type pg from 'pg';
import { DataSource } from 'typeorm';
import type { BoundedCache } from '../../../src/infrastructure/caching/index.js';
import { OverdueWork } from '../../../src/infrastructure/database/index.js';
import { DAY, HOUR, MINUTE } from '../../../src/infrastructure/time/index.js';
import { DomainProofsJob } from '../../../src/modules/allowlisted-domains/domain-proofs.job.js';
import { OpenidProvider } from '../../../src/modules/single-sign-on/openid/openid-provider.js';
import { eventually } from '../../support/eventually.js';
import { logLines } from '../../support/logs/log-lines.js';
import { moveClock } from '../../support/clock.js';
import { auditOf, disable, sessionsOf, type TestUser } from '../../support/pages/dashboard-users.js';
import { startDnsServer, type DnsServer } from '../../support/http/dns-server.js';
import { ForgedProvider, type Forgery } from '../../support/logins/forged-provider.js';
import {
  addDomain,
  addProvider,
  addUserAt,
  checkDomain,
  DOMAINS_PATH,
  newOwner,
  proveDomain,
  providerUrl,
  someDomain,
  SSO_PATH,
  type Owner,
  ssoSettings,
} from '../../support/logins/single-sign-on.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { countOf, startTestApp, type TestApp } from '../../support/test-app.js';
import { totpCode } from '../../support/logins/totp.js';
import { BEHIND_PROXY, Visitor, type PageResponse, sessionIn } from '../../support/pages/visitor.js';

const UNKNOWN =
  'The login is unknown, was used already, took more than 10 minutes, or began in another browser.';

let service: TestApp;
/** Another process with the same database. */
let other: TestApp;
let dns: DnsServer;
let provider: ForgedProvider;

beforeAll(async () => {
  [dns, provider] = await Promise.all([startDnsServer(), ForgedProvider.start()]);
  const settings = ssoSettings(dns);
  service = await startTestApp(settings);
  other = await startTestApp({ ...settings, DATABASE_URL: service.database.url });
});
afterAll(async () => {
  await other?.close();
  await service?.close();
  await Promise.all([dns.close(), provider.close()]);
});

/** Resources that a test opened. They are closed even if the test fails. */
const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

async function anotherProvider(path?: string): Promise<ForgedProvider> {
  const started = await ForgedProvider.start(path);
  opened.push(started);
  return started;
}

interface Organization extends Owner {
  readonly domain: string;
  /** The configuration, which is enabled. */
  readonly id: string;
}

const claimsOf = ({ id, email }: TestUser) => ({ sub: `sub-${id}`, email, email_verified: true });

const begin = (visitor: Visitor, email: string, more: Record<string, string> = {}): Promise<PageResponse> =>
  visitor.fill('/login', { step: 'address', email, ...more });

const respond = (visitor: Visitor, id: string, query: URLSearchParams): Promise<PageResponse> =>
  visitor.get(`/sso/oidc/${id}?${query.toString()}`);

async function test(
  owner: Owner,
  id: string,
  claims: Record<string, unknown>,
  at = provider,
): Promise<PageResponse> {
  await owner.visitor.get(`${SSO_PATH}/${id}`);
  const url = providerUrl(await owner.visitor.submit(`${SSO_PATH}/${id}/test`));
  return respond(owner.visitor, id, at.respondTo(url, claims));
}

/** Sets up single sign-on for a new organization, from the domain to enabling it. */
async function setUp(): Promise<Organization> {
  const owner = await newOwner(service);
  const domain = await proveDomain(owner, dns);
  const id = await addProvider(owner, provider);
  const tester = await addUserAt(owner, domain);
  expect((await test(owner, id, claimsOf(tester))).status).toBe(200);
  expect((await owner.visitor.fill(`${SSO_PATH}/${id}/enable`, {})).location).toBe(
    `${SSO_PATH}/${id}?done=enabled`,
  );
  return { ...owner, domain, id };
}

let organization: Organization;
beforeAll(async () => {
  organization = await setUp();
});

const addUser = (): Promise<TestUser> => addUserAt(organization, organization.domain);

/** Logs in as the provider says. */
async function logIn(
  user: TestUser,
  claims: Record<string, unknown> = claimsOf(user),
  forgery: Forgery = {},
  visitor = new Visitor(service),
): Promise<{ visitor: Visitor; response: PageResponse }> {
  const url = providerUrl(await begin(visitor, user.email));
  return {
    visitor,
    response: await respond(visitor, organization.id, provider.respondTo(url, claims, forgery)),
  };
}

function expectRefused({ status, text }: PageResponse, visitor: Visitor, reason: string): void {
  expect([status, visitor.session]).toEqual([403, undefined]);
  expect(text).toContain(reason);
}

const lastAttempt = async (): Promise<Record<string, unknown> | undefined> => {
  const rows = await service.database.query(
    'SELECT email, problem FROM sso_attempt WHERE configuration_id = $1 ORDER BY finished_at DESC NULLS LAST LIMIT 1',
    [organization.id],
  );
  return rows[0] as Record<string, unknown> | undefined;
};

const numbered = (count: number): string[] => Array.from({ length: count }, () => randomUUID());

/** @returns a function that returns the code for a time */
async function setUpSecondFactor(user: TestUser): Promise<(at: number) => string> {
  const owner = new Visitor(service);
  await owner.logIn(user.email, user.password);
  const setup = '/account/second-factor/setup';
  await owner.get('/account/second-factor');
  await owner.submit(setup);
  const [, secret = ''] = /<code class="secret">([A-Z2-7 ]+)</.exec((await owner.get(setup)).text) ?? [];
  rememberSecret(secret, secret.replaceAll(' ', ''));
  const code = (at: number): string => totpCode(secret.replaceAll(' ', ''), at);
  expect((await owner.submit('/account/second-factor/enable', { code: code(Date.now()) })).status).toBe(200);
  return code;
}

describe('A login through an identity provider', () => {
  it('logs in the user with the verified address in a proved domain, and links the account', async () => {
    const user = await addUser();
    const { visitor, response } = await logIn(user);
    expect([response.status, response.location]).toEqual([303, '/dashboard']);
    expect((await visitor.get('/account')).text).toContain(user.email);
    expect(await auditOf(service, user)).toEqual(['auth.provider_link success', 'auth.login success']);
    expect(
      await service.database.query('SELECT issuer, subject FROM sso_identity WHERE user_id = $1', [user.id]),
    ).toEqual([{ issuer: provider.issuer, subject: `sub-${user.id}` }]);
    expect(await lastAttempt()).toEqual({ email: user.email, problem: null });

    expect((await logIn(user)).response.status).toBe(303);
    expect(await auditOf(service, user)).toEqual([
      'auth.provider_link success',
      'auth.login success',
      'auth.login success',
    ]);
  });

  it('sends a request with PKCE, and secrets that are different each time and sealed in the database', async () => {
    const user = await addUser();
    const parameters = async () =>
      Object.fromEntries(new URL(providerUrl(await begin(new Visitor(service), user.email))).searchParams);
    const [first, second] = [await parameters(), await parameters()];
    expect(first).toMatchObject({
      response_type: 'code',
      client_id: provider.clientId,
      redirect_uri: `https://dashboard.example.com/sso/oidc/${organization.id}`,
      scope: 'openid email profile',
      code_challenge_method: 'S256',
      login_hint: user.email,
    });
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(first[name]).toMatch(/^[\w-]{43}$/);
      expect(first[name]).not.toBe(second[name]);
    }
    const stored = JSON.stringify(await service.database.query('SELECT * FROM sso_attempt'));
    expect(stored).not.toContain(first['state']);
    expect(stored).not.toContain(first['nonce']);
  });

  it('opens the page that required the login', async () => {
    const user = await addUser();
    const visitor = new Visitor(service);
    const url = providerUrl(await begin(visitor, user.email, { next: '/account/passkeys' }));
    const query = provider.respondTo(url, claimsOf(user));
    expect((await respond(visitor, organization.id, query)).location).toBe('/account/passkeys');
  });

  it('replaces an earlier session of the same browser', async () => {
    const user = await addUser();
    const { visitor } = await logIn(user);
    const first = visitor.copy();
    await logIn(user, claimsOf(user), {}, visitor);
    expect(visitor.session).not.toBe(first.session);
    expect(await sessionsOf(service, user)).toBe(1);
  });

  it('finds the user by issuer and subject after the address has changed, verified or not', async () => {
    const user = await addUser();
    await logIn(user);
    for (const email of [`changed@${organization.domain}`, 'changed@elsewhere.example', undefined]) {
      const { visitor, response } = await logIn(user, { sub: `sub-${user.id}`, email });
      expect(response.status).toBe(303);
      expect((await visitor.get('/account')).text).toContain(user.email);
    }
  });

  it('does not log in another account with the address of a linked user', async () => {
    const user = await addUser();
    await logIn(user);
    const { visitor, response } = await logIn(user, { ...claimsOf(user), sub: 'somebody-else' });
    expectRefused(response, visitor, 'linked to another account at the identity provider');
  });

  it('links a user once for 20 concurrent logins with two accounts', async () => {
    const user = await addUser();
    const logins = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        logIn(user, { ...claimsOf(user), sub: `${user.id}-${index % 2}` }),
      ),
    );
    const accepted = logins.flatMap(({ response }, index) => (response.status === 303 ? [index % 2] : []));
    expect(accepted.length).toBeGreaterThanOrEqual(1);
    expect(new Set(accepted).size).toBe(1);
  });

  it('refuses a disabled user, linked or not, and records it', async () => {
    const [linked, unlinked] = [await addUser(), await addUser()];
    await logIn(linked);
    for (const user of [linked, unlinked]) {
      await disable(service, user);
      const { visitor, response } = await logIn(user);
      expectRefused(response, visitor, 'The user is disabled.');
      expect((await auditOf(service, user)).at(-1)).toBe('auth.login denied');
    }
  });

  it('still asks for the second factor', async () => {
    const user = await addUser();
    await service.database.query(
      `UPDATE dashboard_user SET totp_enabled_at = now(), totp_secret_sealed = 'x' WHERE id = $1`,
      [user.id],
    );
    const { visitor, response } = await logIn(user);
    expect(response.location).toBe('/login/second-factor');
    expect((await visitor.get('/account')).status).toBe(303);
  });

  it('counts as recent only if the person logged in at the provider recently', async () => {
    const user = await addUser();
    const seconds = (ago: number): number => Math.floor((Date.now() - ago) / 1_000);
    const isRecent = async (more: Record<string, unknown>): Promise<boolean> => {
      const { visitor } = await logIn(user, { ...claimsOf(user), ...more });
      return visitor.hasRecentLogin();
    };
    expect(await isRecent({ auth_time: seconds(MINUTE) })).toBe(true);
    expect(await isRecent({ auth_time: seconds(6 * MINUTE) })).toBe(false);
    expect(await isRecent({})).toBe(false);
  });

  it.each([
    [1, true],
    [6, false],
  ])(
    'is as old as the login at the provider, also after the second factor: %d minutes',
    async (age, isRecent) => {
      const user = await addUser();
      const code = await setUpSecondFactor(user);
      const authTime = Math.floor((Date.now() - age * MINUTE) / 1_000);
      const { visitor } = await logIn(user, { ...claimsOf(user), auth_time: authTime });
      await visitor.fill('/login/second-factor', { code: code(Date.now() + 30_000) });
      expect((await visitor.get('/account')).status).toBe(200);
      expect(await visitor.hasRecentLogin()).toBe(isRecent);
    },
  );

  it('asks the provider to log in the person again where a recent login is required, and verifies it', async () => {
    const user = await addUser();
    const again = async (claims: Record<string, unknown>): Promise<PageResponse> => {
      const visitor = new Visitor(service);
      const url = providerUrl(await begin(visitor, user.email, { again: 'page' }));
      const { searchParams } = new URL(url);
      expect([searchParams.get('max_age'), searchParams.get('prompt')]).toEqual(['0', 'login']);
      expect(JSON.parse(searchParams.get('claims') ?? '')).toEqual({
        id_token: { auth_time: { essential: true } },
      });
      return respond(visitor, organization.id, provider.respondTo(url, { ...claimsOf(user), ...claims }));
    };
    const now = Math.floor(Date.now() / 1_000);
    for (const difference of [-90, 0, 90])
      expect((await again({ auth_time: now + difference })).status).toBe(303);
    for (const [claims, reason] of [
      [{ auth_time: now - 180 }, 'did not ask the person to log in again'],
      [{}, 'does not say when the person logged in (the claim auth_time)'],
    ] as const) {
      const { status, text } = await again(claims);
      expect(status).toBe(403);
      expect(text).toContain(reason);
      expect(text).toContain('Add a passkey or a second factor on your account page');
    }
  });

  it.each<[string, (user: TestUser, now: number) => Record<string, unknown>, boolean]>([
    [
      'Okta',
      ({ email }, now) => ({ sub: '00uixa271s6x7qt8I0h7', email, auth_time: now, groups: numbered(100) }),
      true,
    ],
    [
      'Microsoft Entra ID',
      ({ email }) => ({
        sub: 'x'.repeat(43),
        oid: randomUUID(),
        tid: randomUUID(),
        ver: '2.0',
        email,
        groups: numbered(200),
      }),
      false,
    ],
    [
      'Google',
      ({ email }) => ({ sub: '110169484474386276334', email, email_verified: true, hd: organization.domain }),
      false,
    ],
    [
      'Google, with session age claims',
      ({ email }, now) => ({ sub: '110169484474386276335', email, email_verified: true, auth_time: now }),
      true,
    ],
    [
      'Keycloak',
      ({ email }, now) => ({
        sub: randomUUID(),
        email,
        email_verified: true,
        auth_time: now,
        groups: ['/admins'],
      }),
      true,
    ],
    [
      'Auth0',
      ({ email }, now) => ({
        sub: 'auth0|507f1f77bcf86cd799439020',
        email,
        email_verified: true,
        auth_time: now,
        'https://example.com/roles': [],
      }),
      true,
    ],
    [
      'Auth0, with a text',
      ({ email }, now) => ({
        sub: 'auth0|507f1f77bcf86cd799439021',
        email,
        email_verified: 'true',
        auth_time: now,
      }),
      true,
    ],
    ['PingOne', ({ email }, now) => ({ sub: randomUUID(), email, auth_time: now }), true],
    ['PingFederate', ({ email }) => ({ sub: 'f81d4fae', email, 'pi.sri': 'x' }), false],
    [
      'AD FS',
      ({ email }) => ({ sub: `${'x'.repeat(43)}=`, upn: email, unique_name: 'EXAMPLE\\ada', email }),
      false,
    ],
  ])('logs in what %s sends, and knows whether the login is recent', async (_provider, claims, isRecent) => {
    const user = await addUser();
    const now = Math.floor(Date.now() / 1_000);
    const { visitor, response } = await logIn(user, claims(user, now));
    expect(response.location).toBe('/dashboard');
    expect(await visitor.hasRecentLogin()).toBe(isRecent);
  });

  it('may have null for what the provider does not have', async () => {
    const own = await anotherProvider();
    Object.assign(own.metadata, { scopes_supported: null, userinfo_endpoint: null });
    Object.assign(own.tokenMembers, { refresh_token: null, expires_in: null, scope: null });
    const owner = await newOwner(service);
    const [domain, id] = [await proveDomain(owner, dns), await addProvider(owner, own)];
    const { email } = await addUserAt(owner, domain);
    await service.database.query(
      "INSERT INTO sso_setting VALUES ($1, false, 'groups', '{}', '{}', '{}', false, NULL)",
      [owner.organizationId],
    );
    const { status, text } = await test(owner, id, { sub: 'one', email, groups: ['x'] }, own);
    expect(status).toBe(200);
    expect(text).toContain('groups');
  });

  it.each<[string, { status: number; value: { sub?: string } & Record<string, string> }]>([
    ['refuses the access token, as AD FS does', { status: 401, value: { error: 'invalid_token' } }],
    ['returns only the subject, as AD FS does', { status: 200, value: { sub: 'one' } }],
    ['describes another person', { status: 200, value: { sub: 'two', name: 'Mallory' } }],
    ['fails', { status: 500, value: {} }],
  ])('needs no UserInfo endpoint for an address in the ID token: one that %s', async (_what, userInfo) => {
    const [owner, own] = [await newOwner(service), await anotherProvider()];
    Object.assign(own.metadata, { userinfo_endpoint: `${own.issuer}/userinfo` });
    Object.assign(own, { userInfo });
    const [domain, id] = [await proveDomain(owner, dns), await addProvider(owner, own)];
    const { email } = await addUserAt(owner, domain);
    const { status, text } = await test(owner, id, { sub: 'one', upn: email, email }, own);
    expect(status).toBe(200);
    expect(text).not.toContain('Mallory');
    const without = await test(owner, id, { sub: 'one', upn: email }, own);
    expect(without.text).toContain(
      userInfo.value.sub === 'one'
        ? 'The identity provider did not send an email address.'
        : 'The ID token contains no email address, and the UserInfo endpoint of the identity provider cannot be used.',
    );
  });

  it('opens a session that ends at session_expiry, and none after it', async () => {
    const user = await addUser();
    const seconds = (offset: number): number => Math.floor((Date.now() + offset) / 1_000);
    for (const [end, minutes] of [
      [seconds(HOUR), 60],
      [String(seconds(HOUR)), 60],
      [seconds(DAY), 720],
      [1e12, 720],
      [null, 720],
    ] as const) {
      const { visitor } = await logIn(user, { ...claimsOf(user), session_expiry: end });
      using _clock = moveClock(service, minutes * MINUTE - MINUTE);
      expect((await visitor.get('/account')).status).toBe(200);
      using _later = moveClock(service, minutes * MINUTE + MINUTE);
      expect((await visitor.get('/account')).status).toBe(303);
    }
    const other = await addUser();
    const code = await setUpSecondFactor(other);
    const { visitor: second } = await logIn(other, { ...claimsOf(other), session_expiry: seconds(HOUR) });
    await second.fill('/login/second-factor', { code: code(Date.now() + 30_000) });
    for (const [minutes, status] of [
      [59, 200],
      [61, 303],
    ] as const) {
      using _clock = moveClock(service, minutes * MINUTE);
      expect((await second.get('/account')).status).toBe(status);
    }
    for (const end of [seconds(-MINUTE), 'tomorrow']) {
      const { visitor, response } = await logIn(user, { ...claimsOf(user), session_expiry: end });
      expectRefused(response, visitor, 'The session at the identity provider has ended');
    }
  });

  it.each([-90, 90])('may come from a clock that differs by %d seconds', async (difference) => {
    const user = await addUser();
    const now = Math.floor(Date.now() / 1_000) + difference;
    const times = { iat: now, nbf: now, exp: now + 60, auth_time: now };
    const { visitor, response } = await logIn(user, { ...claimsOf(user), ...times });
    expect(response.location).toBe('/dashboard');
    expect(await visitor.hasRecentLogin()).toBe(true);
  });

  it('needs an address, which AD FS does not send without a claim rule', async () => {
    const user = await addUser();
    const { visitor, response } = await logIn(user, { sub: 'x', upn: user.email, unique_name: user.email });
    expectRefused(response, visitor, 'The identity provider did not send an email address.');
  });

  it('is recent after the second factor if the provider does not say when the person logged in', async () => {
    const user = await addUser();
    const code = await setUpSecondFactor(user);
    const visitor = new Visitor(service);
    const url = providerUrl(await begin(visitor, user.email, { again: 'page' }));
    const response = await respond(visitor, organization.id, provider.respondTo(url, claimsOf(user)));
    expect(response.location).toMatch(/^\/login\/second-factor/);
    await visitor.fill('/login/second-factor', { code: code(Date.now() + 30_000) });
    expect(await visitor.hasRecentLogin()).toBe(true);
  });

  it('warns in the test if the provider does not say when the person logged in', async () => {
    const user = await addUser();
    const warning = 'users need a passkey or a second factor of this service';
    expect((await test(organization, organization.id, claimsOf(user))).text).toContain(warning);
    const now = Math.floor(Date.now() / 1_000);
    const claims = { ...claimsOf(user), auth_time: now };
    expect((await test(organization, organization.id, claims)).text).not.toContain(warning);
  });

  it.each([
    ['two addresses', (email: string) => `someone@evil.example, ${email}`],
    ['two at signs', (email: string) => `someone@evil.example@${email.split('@')[1]}`],
    ['a quoted name', (email: string) => `"someone@evil.example, x"@${email.split('@')[1]}`],
    ['an empty name', (email: string) => `@${email.split('@')[1]}`],
    ['a line break', (email: string) => `a\r\nBcc:${email}`],
    ['a null character', (email: string) => `a\u0000${email}`],
    ['a character that changes the direction', (email: string) => `\u202e${email}`],
    ['an invisible character', (email: string) => `\u200b${email}`],
    ['half a character', (email: string) => `\ud800${email}`],
    ['a name and an address', (email: string) => `Ada <${email}>`],
    ['a space', (email: string) => ` ${email}`],
    ['a Kelvin sign', (email: string) => `\u212a${email.slice(1)}`],
    ['a list of two', (email: string) => [email, 'a@b.example']],
    ['too many characters', (email: string) => 'a'.repeat(250) + email],
  ])('is refused if the address is not one mailbox: %s', async (_what, change) => {
    const user = await addUserAt(organization, organization.domain, 'k');
    const email = change(user.email);
    const { visitor, response } = await logIn(user, { ...claimsOf(user), email });
    expectRefused(response, visitor, 'The identity provider sent an email address that is not valid.');
    expect((await lastAttempt())?.['email']).toBeNull();
  });

  it.each([
    ['empty', ''],
    ['blank', '  '],
    ['with a null character', 'a\u0000b'],
    ['with a line break', 'a\nb'],
    ['with a character that changes the direction', 'a\u202eb'],
    ['of 256 characters', 'a'.repeat(256)],
  ])('is refused if the subject is %s', async (_what, sub) => {
    const user = await addUser();
    const { visitor, response } = await logIn(user, { ...claimsOf(user), sub });
    expect([response.status, visitor.session]).toEqual([403, undefined]);
  });

  it.each([
    [4_000, 303, ''],
    [5_000, 403, 'The response of the identity provider is larger than 256 KiB.'],
  ])('may have a token response of up to 256 KiB: %d groups', async (count, status, reason) => {
    const user = await addUser();
    const groups = Array.from({ length: count }, (_, index) => `group-${index}`.padEnd(40, 'x'));
    const { response } = await logIn(user, { ...claimsOf(user), groups });
    expect(response.status).toBe(status);
    expect(response.text).toContain(reason);
  });
});

describe('The response of an identity provider', () => {
  it('is redeemed once by two processes that get it from one browser at the same time', async () => {
    const user = await addUser();
    const visitor = new Visitor(service);
    const url = providerUrl(await begin(visitor, user.email));
    const query = provider.respondTo(url, claimsOf(user));
    const path = `/sso/oidc/${organization.id}?${query.toString()}`;
    const before = provider.redemptions;
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => {
        const copy = new Visitor(index % 2 === 0 ? service : other, visitor.ip);
        for (const [name, value] of visitor.cookies) copy.cookies.set(name, value);
        return copy.get(path);
      }),
    );
    expect(new Set(responses.map(({ status, location }) => `${status} ${location}`))).toEqual(
      new Set(['303 /dashboard']),
    );
    expect(new Set(responses.map(({ headers }) => sessionIn(headers))).size).toBe(1);
    expect(provider.redemptions - before).toBe(1);
    expect(await sessionsOf(service, user)).toBe(1);
  });

  it('leads the same browser to where it led before, and is not accepted again', async () => {
    const user = await addUser();
    const visitor = new Visitor(service);
    const query = provider.respondTo(providerUrl(await begin(visitor, user.email)), claimsOf(user));
    expect((await respond(visitor, organization.id, query)).status).toBe(303);
    const { session } = visitor;
    visitor.cookies.delete('session');
    expect((await respond(visitor, organization.id, query)).status).toBe(303);
    expect(visitor.session).toBe(session);
    await service.database.query('DELETE FROM submitted_form');
    visitor.cookies.delete('session');
    expectRefused(await respond(visitor, organization.id, query), visitor, UNKNOWN);
  });

  it('is not accepted in another browser, and then still is in the right one', async () => {
    const user = await addUser();
    const visitor = new Visitor(service);
    const query = provider.respondTo(providerUrl(await begin(visitor, user.email)), claimsOf(user));
    const another = new Visitor(service);
    expectRefused(await respond(another, organization.id, query), another, UNKNOWN);
    await another.get('/login');
    expectRefused(await respond(another, organization.id, query), another, UNKNOWN);
    expect((await respond(visitor, organization.id, query)).status).toBe(303);
  });

  it('is not accepted after 10 minutes', async () => {
    const user = await addUser();
    const visitor = new Visitor(service);
    const query = provider.respondTo(providerUrl(await begin(visitor, user.email)), claimsOf(user));
    using _clock = moveClock(service, 10 * MINUTE + 1_000);
    expectRefused(await respond(visitor, organization.id, query), visitor, UNKNOWN);
  });

  it('is not accepted at the address of another configuration', async () => {
    const [user, { id }] = [await addUser(), await setUp()];
    const visitor = new Visitor(service);
    const query = provider.respondTo(providerUrl(await begin(visitor, user.email)), claimsOf(user));
    for (const wrong of [id, 'x', '00000000-0000-4000-8000-000000000000'])
      expectRefused(await respond(visitor, wrong, query), visitor, UNKNOWN);
    expect((await respond(visitor, organization.id, query)).status).toBe(303);
  });

  it('is not accepted once the configuration is disabled', async () => {
    const { id, visitor: owner, domain, ...rest } = await setUp();
    const user = await addUserAt({ ...rest, visitor: owner }, domain);
    const visitor = new Visitor(service);
    const query = provider.respondTo(providerUrl(await begin(visitor, user.email)), claimsOf(user));
    await owner.fill(`${SSO_PATH}/${id}/disable`, {});
    expectRefused(await respond(visitor, id, query), visitor, 'Single sign-on was disabled');
    expect((await begin(new Visitor(service), user.email)).text).toContain('name="password"');
  });

  it.each<[what: string, reason: string, change: (query: URLSearchParams) => void]>([
    ['without a state', UNKNOWN, (query) => query.delete('state')],
    ['with another state', UNKNOWN, (query) => query.set('state', 'A'.repeat(43))],
    ['with two states', UNKNOWN, (query) => query.append('state', 'A'.repeat(43))],
    ['without an issuer', 'is not valid', (query) => query.delete('iss')],
    ['of another issuer', 'is not valid', (query) => query.set('iss', 'https://evil.example')],
    ['with an unknown code', 'refused the code (invalid_grant)', (query) => query.set('code', 'unknown')],
    [
      'with an error',
      'refused the login (access_denied)',
      (query) => {
        query.delete('code');
        query.set('error', 'access_denied');
      },
    ],
    [
      'with an error that contains HTML',
      'refused the login (without a known error code)',
      (query) => {
        query.delete('code');
        query.set('error', '<b>call 555-0100</b>');
      },
    ],
  ])('is refused %s', async (_what, reason, change) => {
    const user = await addUser();
    const visitor = new Visitor(service);
    const query = provider.respondTo(providerUrl(await begin(visitor, user.email)), claimsOf(user));
    change(query);
    const response = await respond(visitor, organization.id, query);
    expectRefused(response, visitor, reason);
    expect(response.text).not.toContain('555-0100');
  });

  it.each<[what: string, reason: string, forgery: Forgery]>([
    ['belongs to another login', 'the nonce differs', { claims: { nonce: 'A'.repeat(43) } }],
    ['has no nonce', 'the nonce differs', { claims: { nonce: undefined } }],
    ['is for another client', 'the claim aud differs', { claims: { aud: 'another' } }],
    ['is of another issuer', 'the claim iss differs', { claims: { iss: 'https://evil.example' } }],
    ['has expired', 'has expired', { claims: { exp: Math.floor(Date.now() / 1_000) - HOUR / 1_000 } }],
    ['is not valid yet', 'not valid yet', { claims: { nbf: Math.floor(Date.now() / 1_000) + HOUR / 1_000 } }],
    ['is unsigned (alg: none)', 'not with an allowed algorithm', { signature: 'none' }],
    [
      'is signed with the public key as an HMAC secret',
      'not with an allowed algorithm',
      { signature: 'HS256 with the public key' },
    ],
    ['is signed with another key', 'not signed with a key', { signature: 'other key' }],
    ['has a changed signature', 'not signed with a key', { signature: 'changed' }],
    ['has a subject that is too long', '1 to 255 printable characters', { claims: { sub: 'x'.repeat(256) } }],
    ['has no subject', 'is not valid', { claims: { sub: undefined } }],
  ])('is refused if its ID token %s', async (_what, reason, forgery) => {
    const user = await addUser();
    const { visitor, response } = await logIn(user, claimsOf(user), forgery);
    expectRefused(response, visitor, reason);
    expect(String((await lastAttempt())?.['problem'])).toContain(reason);
    expect(await sessionsOf(service, user)).toBe(0);
  });

  it.each(['none', 'HS256 with the public key'] as const)(
    'is refused if its ID token is not signed properly (%s), although the provider says that it supports it',
    async (signature) => {
      const lenient = await anotherProvider();
      lenient.metadata['id_token_signing_alg_values_supported'] = ['none', 'HS256', 'RS256'];
      const owner = await newOwner(service);
      const domain = await proveDomain(owner, dns);
      const id = await addProvider(owner, lenient);
      const user = await addUserAt(owner, domain);
      await owner.visitor.get(`${SSO_PATH}/${id}`);
      const url = providerUrl(await owner.visitor.submit(`${SSO_PATH}/${id}/test`));
      const { status } = await respond(
        owner.visitor,
        id,
        lenient.respondTo(url, claimsOf(user), { signature }),
      );
      expect(status).toBe(403);
    },
  );

  it('to a test is shown once, only to the tester, and not stored', async () => {
    const owner = await setUp();
    const { id, domain, visitor } = owner;
    const user = await addUserAt(owner, domain);
    for (const destination of ['document', '']) {
      await visitor.get(`${SSO_PATH}/${id}`);
      const query = provider.respondTo(providerUrl(await visitor.submit(`${SSO_PATH}/${id}/test`)), {
        ...claimsOf(user),
        favorite: 'a value of the provider',
      });
      const response = `/sso/oidc/${id}?${query.toString()}`;
      const first = await visitor.get(response, { 'sec-fetch-dest': destination });
      const path = first.location ?? response;
      const shown = first.location === null ? first : await visitor.get(path);
      expect([shown.status, shown.text]).toEqual([200, expect.stringContaining('a value of the provider')]);
      const [afterLogout, again] = [visitor.copy(), await visitor.get(path)];
      afterLogout.cookies.delete('session');
      for (const { text } of [again, await afterLogout.get(path)])
        expect(text).not.toContain('a value of the provider');
    }
  });

  it('to a test is shown at once if it does not fit into a cookie', async () => {
    const owner = await setUp();
    const { id, domain } = owner;
    const user = await addUserAt(owner, domain);
    for (const [symbol, status] of [
      ['a', 303],
      ['/', 200],
    ] as const) {
      await owner.visitor.get(`${SSO_PATH}/${id}`);
      const url = providerUrl(await owner.visitor.submit(`${SSO_PATH}/${id}/test`));
      const query = provider.respondTo(url, claimsOf(user));
      query.set('more', symbol.repeat(1_000));
      const headers = { 'sec-fetch-dest': 'document' };
      const response = await owner.visitor.get(`/sso/oidc/${id}?${query.toString()}`, headers);
      expect([symbol, response.status]).toEqual([symbol, status]);
    }
  });
});

describe('An address at the identity provider', () => {
  it.each<[what: string, reason: string, claims: Record<string, unknown>]>([
    ['that is not verified', 'verified email address', { email_verified: false }],
    ['that is not verified, in a text', 'verified email address', { email_verified: 'false' }],
    ['that is missing', 'did not send an email address', { email: undefined }],
    ['that is a list', 'an email address that is not valid', { email: ['a@b.example', 'c@b.example'] }],
    ['that is an object', 'an email address that is not valid', { email: { value: 'a@b.example' } }],
    [
      'in a domain of nobody',
      'not a domain that your organization has proved',
      { email: 'a@nobody.example' },
    ],
    ['that is not an address', 'an email address that is not valid', { email: 'nobody' }],
  ])('%s is refused', async (_what, reason, claims) => {
    const user = await addUser();
    const { visitor, response } = await logIn(user, { ...claimsOf(user), ...claims });
    expectRefused(response, visitor, reason);
  });

  it.each<[what: string, claimsWith: (email: string) => Record<string, unknown>]>([
    ['a list of one, as Keycloak sends attributes', (email) => ({ email: [email] })],
    ['the claim of Azure AD B2C', (email) => ({ email: undefined, emails: [email] })],
  ])('can be %s', async (_what, claimsWith) => {
    const user = await addUser();
    const { response } = await logIn(user, { ...claimsOf(user), ...claimsWith(user.email) });
    expect(response.location).toBe('/dashboard');
  });

  it('in the proved domain of another organization is refused', async () => {
    const [user, victims] = [await addUser(), await setUp()];
    const victim = await addUserAt(victims, victims.domain);
    const { visitor, response } = await logIn(user, claimsOf(victim));
    expectRefused(response, visitor, 'not a domain that your organization has proved');
    expect(await sessionsOf(service, victim)).toBe(0);
  });

  it('of a user of another organization in our proved domain is refused', async () => {
    const [user, elsewhere] = [await addUser(), await newOwner(service)];
    const victim = await addUserAt(elsewhere, organization.domain);
    const { visitor, response } = await logIn(user, claimsOf(victim));
    expectRefused(response, visitor, 'has no user with this email address');
  });

  it('in a domain of the organization that is not proved is refused', async () => {
    const domain = someDomain();
    await addDomain(organization, domain);
    const [user, unproved] = [await addUser(), await addUserAt(organization, domain)];
    const { visitor, response } = await logIn(user, claimsOf(unproved));
    expectRefused(response, visitor, 'not a domain that your organization has proved');
  });

  it('needs no claim email_verified, which some providers do not send', async () => {
    const user = await addUser();
    expect((await logIn(user, { ...claimsOf(user), email_verified: undefined })).response.status).toBe(303);
  });

  it('of a user who has not accepted the invitation accepts it', async () => {
    const user = await addUser();
    const email = `invited@${organization.domain}`;
    await service.database.query(
      `INSERT INTO dashboard_user (id, organization_id, email, name, role, created_at)
       VALUES (gen_random_uuid(), $1, $2, 'Ada', 'member', now())`,
      [organization.organizationId, email],
    );
    const { visitor, response } = await logIn(user, { ...claimsOf(user), email });
    expect(response.status).toBe(303);
    expect((await visitor.get('/account')).text).toContain(email);
    expect(await auditOf(service, { email })).toEqual(['auth.provider_link success', 'auth.login success']);
  });
});

describe('A user who is unlinked', () => {
  it('is linked again by the next login, and is logged out', async () => {
    const user = await addUser();
    const { visitor } = await logIn(user);
    const page = `/dashboard/users/${user.id}`;
    const other = { ...claimsOf(user), sub: `other-${user.id}` };
    expect((await logIn(user, other)).response.text).toContain('Unlink single sign-on');
    const admin = organization.visitor;
    expect((await admin.get(page)).text).toContain('Unlink single sign-on');
    expect((await admin.fill(`${page}/unlink`, {})).location).toBe(`${page}?done=unlink`);
    expect((await visitor.get('/account')).status).toBe(303);
    expect((await admin.get(page)).text).not.toContain('Unlink single sign-on');
    expect((await logIn(user, other)).response.status).toBe(303);
    expect((await logIn(user)).response.status).toBe(403);
    expect(
      await service.database.query(
        `SELECT actor_email FROM audit_log WHERE action = 'auth.provider_unlink' AND target_name = $1`,
        [user.email],
      ),
    ).toHaveLength(1);
  });
});

describe('Two organizations with the same provider', () => {
  it('log in their own users, also a person who is in both', async () => {
    const [one, two] = [await setUp(), await setUp()];
    const sub = randomBytes(8).toString('hex');
    for (const each of [one, two]) {
      const user = await addUserAt(each, each.domain);
      const visitor = new Visitor(service);
      const query = provider.respondTo(providerUrl(await begin(visitor, user.email)), {
        ...claimsOf(user),
        sub,
      });
      expect((await respond(visitor, each.id, query)).status).toBe(303);
      expect((await visitor.get('/account')).text).toContain(user.email);
    }
  });
});

describe('The first step of a login', () => {
  const comparable = ({ status, headers, text }: PageResponse, email: string) => {
    const { date: _date, 'x-request-id': _id, refresh: _url, ...rest } = Object.fromEntries(headers);
    const masked = text
      .replaceAll(email, 'ADDRESS')
      .replaceAll(encodeURIComponent(email), 'ADDRESS')
      .replaceAll(/(state|nonce|code_challenge)=[\w-]+/g, '$1=');
    return { status, headers: rest, text: masked };
  };

  it('gets the same response by as many statements for known and unknown addresses of a domain', async () => {
    const owner = await newOwner(service);
    for (const [domain, isProvider] of [
      [organization.domain, true],
      [someDomain(), false],
    ] as const) {
      const known = await addUserAt(isProvider ? organization : owner, domain);
      const visitor = new Visitor(service);
      await visitor.get('/login');
      const watched = async (email: string) => {
        const { master } = service.app.get(DataSource).driver as unknown as { master: pg.Pool };
        const connect = import.meta.jest.spyOn(master, 'connect');
        const response = await visitor.submit('/login', { step: 'address', email });
        const statements = connect.mock.calls.length;
        connect.mockRestore();
        return { statements, response: comparable(response, email) };
      };
      await watched(known.email);
      const one = await watched(known.email);
      const two = await watched(`${randomBytes(6).toString('hex')}@${domain}`);
      expect(two.response).toEqual(one.response);
      expect(one.response.text.includes('name="password"')).toBe(!isProvider);
      expect(one.statements).toBeGreaterThan(0);
      expect(two.statements).toBe(one.statements);
    }
  });

  it('asks for a missing address, and does not ask for a password before', async () => {
    const visitor = new Visitor(service);
    const page = await visitor.get('/login?next=/account');
    expect(page.text).not.toContain('name="password"');
    expect(page.text).toContain('name="next" value="/account"');
    const { status, text } = await visitor.submit('/login', { step: 'address', email: ' ' });
    expect(status).toBe(400);
    expect(text).toContain('aria-describedby="email-error"');
  });

  it('is skipped with ?with=password, and the password keeps working', async () => {
    const user = await addUser();
    const visitor = new Visitor(service);
    expect((await visitor.get('/login?with=password')).text).toContain('name="password"');
    expect((await visitor.logIn(user.email, user.password)).status).toBe(303);
    // Users of a provider are asked for the address again, and others for the password.
    expect((await visitor.get('/login')).text).not.toContain('name="password"');
    expect((await organization.visitor.get('/login')).text).toContain('name="password"');
  });

  it('asks for the password if the provider cannot be reached', async () => {
    const gone = await anotherProvider();
    const owner = await newOwner(service);
    const domain = await proveDomain(owner, dns);
    const id = await addProvider(owner, gone);
    await service.database.query('UPDATE saml_configuration SET enabled_at = now() WHERE id = $1', [id]);
    await gone.close();
    const { status, text } = await begin(new Visitor(service), `somebody@${domain}`);
    expect(status).toBe(503);
    expect(text).toContain('cannot be used at the moment');
    expect(text).toContain('name="password"');
    const { text: page } = await owner.visitor.get(`${SSO_PATH}/${id}`);
    expect(page).toContain('The discovery document of the issuer cannot be read');
    expect(page).not.toContain('somebody@');
  });

  it('asks the provider once for the logins that begin together', async () => {
    const busy = await anotherProvider();
    const owner = await newOwner(service);
    const domain = await proveDomain(owner, dns);
    const id = await addProvider(owner, busy);
    await service.database.query('UPDATE saml_configuration SET enabled_at = now() WHERE id = $1', [id]);
    const before = busy.discoveries;
    const begun = await Promise.all(
      Array.from({ length: 20 }, () => begin(new Visitor(service), `somebody@${domain}`)),
    );
    for (const page of begun) expect(providerUrl(page)).toContain(busy.issuer);
    expect(busy.discoveries - before).toBe(1);
  });

  it('keeps only what is used of the documents of a provider, once for each configuration', async () => {
    const large = await anotherProvider();
    large.metadata['x'] = Array.from({ length: 80_000 }, () => ({}));
    const owner = await newOwner(service);
    const domain = await proveDomain(owner, dns);
    const id = await addProvider(owner, large);
    await service.database.query('UPDATE saml_configuration SET enabled_at = now() WHERE id = $1', [id]);
    const { cache } = service.app.get(OpenidProvider, { strict: false }) as unknown as {
      readonly cache: BoundedCache<{ readonly client: Promise<Configuration> }>;
    };
    cache.clear();
    for (const secret of ['one', 'two', 'three']) {
      await owner.visitor.fill(`${SSO_PATH}/${id}/change`, { name: 'x', client_secret: secret });
      expect(providerUrl(await begin(new Visitor(service), `somebody@${domain}`))).toContain(large.issuer);
    }
    const kept = [...cache.values()];
    expect(kept).toHaveLength(1);
    expect(JSON.stringify((await kept[0]?.client)?.serverMetadata()).length).toBeLessThan(1_000);
  });

  it('begins at most 600 logins per hour from one IP address', async () => {
    const [user, visitor] = [await addUser(), new Visitor(service)];
    await begin(visitor, user.email);
    await service.database.query(`UPDATE attempt_count SET points = 600 WHERE key LIKE 'sso-begin:%'`);
    expect((await begin(visitor, user.email)).status).toBe(429);
    await service.database.query(`DELETE FROM attempt_count WHERE key LIKE 'sso-begin:%'`);
  });
});

describe('The set-up of single sign-on', () => {
  it.each([
    ['/application/o/mcs/', 'without the slash at its end', (issuer: string) => issuer.slice(0, -1)],
    ['/realms/mcs', 'with a slash at its end', (issuer: string) => `${issuer}/`],
    ['/realms/mcs', 'with spaces', (issuer: string) => ` ${issuer} `],
    [
      '/o/',
      'as the address of the document',
      (issuer: string) => `${issuer}.well-known/openid-configuration`,
    ],
  ])('knows the issuer %s %s, and credentials with spaces', async (path, _how, typed) => {
    const [owner, own] = [await newOwner(service), await anotherProvider(path)];
    const id = await addProvider(owner, {
      issuer: typed(own.issuer),
      clientId: ` ${own.clientId}\t`,
      clientSecret: ` ${own.clientSecret} `,
    });
    expect((await owner.visitor.get(`${SSO_PATH}/${id}`)).text).toContain(own.issuer);
    const domain = await proveDomain(owner, dns);
    const tester = await addUserAt(owner, domain);
    expect((await test(owner, id, claimsOf(tester), own)).status).toBe(200);
    expect(own.credentials).toBe(`${own.clientId}:${own.clientSecret}`);
    await owner.visitor.fill(`${SSO_PATH}/${id}/change`, { name: 'x', client_secret: ' a-b_c.d~e +/:ä ' });
    await test(owner, id, claimsOf(tester), own);
    expect(own.credentials).toBe(`${own.clientId}:a-b_c.d~e+%2B%2F%3A%C3%A4`);
  });

  it('does not use the discovery document of another issuer', async () => {
    const [owner, own] = [await newOwner(service), await anotherProvider('/realms/mcs')];
    Object.assign(own.metadata, { issuer: `${own.issuer}-2` });
    await expect(addProvider(owner, own)).rejects.toThrow('it is that of another issuer');
  });

  it('cannot be enabled before a test login succeeded', async () => {
    const owner = await newOwner(service);
    const domain = await proveDomain(owner, dns);
    const id = await addProvider(owner, provider);
    const enable = () => owner.visitor.fill(`${SSO_PATH}/${id}/enable`, {});
    expect((await enable()).text).toContain('No test login has succeeded yet');
    const failed = await test(owner, id, { sub: 'x', email: `nobody@${domain}`, email_verified: true });
    expect(failed.status).toBe(403);
    expect(failed.text).toContain('has no user with this email address');
    expect(failed.text).toContain(`nobody@${domain}`);
    expect((await enable()).status).toBe(400);

    const user = await addUserAt(owner, domain);
    const { session } = owner.visitor;
    const tested = await test(owner, id, { ...claimsOf(user), department: ['Sales <b>'] });
    expect(tested.text).toContain(`With a login, Ada (${user.email}) would be logged in.`);
    expect(tested.text).toContain('[&quot;Sales &lt;b>&quot;]');
    expect([owner.visitor.session, await sessionsOf(service, user)]).toEqual([session, 0]);
    expect(await service.database.query('SELECT 1 FROM sso_identity WHERE user_id = $1', [user.id])).toEqual(
      [],
    );
    expect((await enable()).location).toContain('done=enabled');
    expect((await auditOf(service, owner.login)).filter((entry) => entry.startsWith('sso'))).toEqual([
      'sso.add success',
      'sso.enable success',
    ]);
    // A user who adds a provider decides who can log in as whom.
    const [entry] = await service.database.query(
      `SELECT actor_email, changes FROM audit_log WHERE action = 'sso.add' AND organization_id = $1`,
      [owner.organizationId],
    );
    expect(entry).toMatchObject({
      actor_email: owner.login.email,
      changes: expect.arrayContaining([expect.objectContaining({ field: 'entity_id', to: provider.issuer })]),
    });
  });

  it('accepts the response of a test only from the user who began it', async () => {
    const owner = await newOwner(service);
    const domain = await proveDomain(owner, dns);
    const id = await addProvider(owner, provider);
    const user = await addUserAt(owner, domain);
    await owner.visitor.get(`${SSO_PATH}/${id}`);
    const url = providerUrl(await owner.visitor.submit(`${SSO_PATH}/${id}/test`));
    await owner.visitor.logIn(user.email, user.password);
    const { status, text } = await respond(owner.visitor, id, provider.respondTo(url, claimsOf(user)));
    expect(status).toBe(403);
    expect(text).toContain('started by another user');
  });

  it('seals the client secret, and replaces it', async () => {
    const { id, visitor } = organization;
    const stored = async () =>
      JSON.stringify(await service.database.query('SELECT * FROM saml_configuration WHERE id = $1', [id]));
    const before = await stored();
    expect(before).not.toContain(provider.clientSecret);
    expect((await visitor.get(`${SSO_PATH}/${id}`)).text).not.toContain(provider.clientSecret);
    const fields = { name: 'Renamed', client_secret: provider.clientSecret };
    expect((await visitor.fill(`${SSO_PATH}/${id}/change`, fields)).location).toContain('done=changed');
    expect(await stored()).not.toBe(before);
    expect((await visitor.get(`${SSO_PATH}/${id}`)).text).toContain('<h1>Renamed</h1>');
    expect((await logIn(await addUser())).response.status).toBe(303);
  });

  it('shows the last 20 logins with the reasons of failures', async () => {
    const each = await setUp();
    const user = await addUserAt(each, each.domain);
    for (let count = 0; count < 21; count += 1) {
      const visitor = new Visitor(service);
      const query = provider.respondTo(providerUrl(await begin(visitor, user.email)), {
        ...claimsOf(user),
        email_verified: count !== 20,
      });
      await respond(visitor, each.id, query);
      if (count === 0) await service.database.query('DELETE FROM sso_identity WHERE user_id = $1', [user.id]);
      if (count === 19)
        await service.database.query('DELETE FROM sso_identity WHERE user_id = $1', [user.id]);
    }
    const { text } = await each.visitor.get(`${SSO_PATH}/${each.id}`);
    expect(text.match(/>Login<\/td>/g)).toHaveLength(20);
    using _clock = moveClock(service, 11 * MINUTE);
    for (let count = 0; count < 2; count += 1) await begin(new Visitor(service), user.email);
    const stored = 'SELECT count(*)::int FROM sso_attempt WHERE configuration_id = $1';
    const [{ count } = { count: 0 }] = await service.database.query<{ count: number }>(stored, [each.id]);
    // The 20 that are shown, and the two that can still be finished.
    expect(count).toBe(22);
    expect(text).toContain('verified email address (see the claim email_verified, and hd of Google)');
  });

  it('keeps the last logins of users apart from those of strangers', async () => {
    const each = await setUp();
    const refused = `unknown@${each.domain}`;
    const visitor = new Visitor(service);
    const login = providerUrl(await begin(visitor, refused));
    await respond(
      visitor,
      each.id,
      provider.respondTo(login, claimsOf({ id: 'unknown', email: refused, password: '' })),
    );
    for (let count = 0; count < 25; count += 1) {
      const stranger = new Visitor(service);
      const state = new URL(providerUrl(await begin(stranger, refused))).searchParams.get('state') ?? '';
      await respond(stranger, each.id, new URLSearchParams({ state, error: 'access_denied' }));
    }
    const { text } = await each.visitor.get(`${SSO_PATH}/${each.id}`);
    expect(text).toContain('no user with this email address');
    expect(text).toContain('>Test</td>');
    expect(text.match(/>Unknown</g)).toHaveLength(20);
  });

  it('is for owners and admins of the organization only', async () => {
    const { id } = organization;
    const elsewhere = await newOwner(service);
    expect((await elsewhere.visitor.get(`${SSO_PATH}/${id}`)).status).toBe(404);
    expect(
      (await elsewhere.visitor.fill(`${SSO_PATH}/configurations/new`, {}, `${SSO_PATH}/${id}/test`)).status,
    ).toBe(404);
    const login = await service.login('member', organization.organizationId);
    const member = new Visitor(service);
    member.cookies.set('session', login.cookie.slice('session='.length));
    for (const path of [
      `${SSO_PATH}/configurations/new-openid`,
      `${SSO_PATH}/${id}`,
      `${SSO_PATH}/${id}/enable`,
    ])
      expect((await member.get(path)).status).toBe(403);
  });

  it('takes an ID in any case, if its pages accept it', async () => {
    const owner = await newOwner(service);
    const path = `${SSO_PATH}/configurations/new-openid`;
    const id = randomUUID();
    const capitals = id.toUpperCase();
    const shown = async (wanted: string): Promise<string | undefined> =>
      /\/sso\/oidc\/([\w-]+)/.exec((await owner.visitor.get(`${path}?id=${wanted}`)).text)?.[1];
    expect(await shown(capitals)).toBe(id);
    const fields = {
      name: 'A',
      issuer: provider.issuer,
      client_id: provider.clientId,
      client_secret: provider.clientSecret ?? '',
    };
    const loose = 'ffffffff-ffff-ffff-ffff-fffffffffff0';
    expect(await shown(loose)).not.toBe(loose);
    const refused = await owner.visitor.fill(path, { ...fields, id: loose });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('is not a UUID')]);
    expect((await owner.visitor.fill(path, { ...fields, id: capitals })).location).toBe(
      `${SSO_PATH}/${id}?done=added`,
    );
    const startTest = async () => providerUrl(await owner.visitor.submit(`${SSO_PATH}/${id}/test`));
    await owner.visitor.get(`${SSO_PATH}/${id}`);
    expect(await startTest()).toContain(provider.issuer);
    const { client_secret, name } = fields;
    const changed = await owner.visitor.fill(`${SSO_PATH}/${capitals}/change`, { name, client_secret });
    expect(changed.status).toBe(303);
    await owner.visitor.get(`${SSO_PATH}/${id}`);
    expect(await startTest()).toContain(provider.issuer);
  });

  it('refuses an issuer that is no URL, is not the issuer of the document, or has a document with a bad address', async () => {
    const owner = await newOwner(service);
    const odd = await anotherProvider();
    const add = (issuer: string) =>
      owner.visitor.fill(`${SSO_PATH}/configurations/new-openid`, {
        name: 'A',
        issuer,
        client_id: 'b',
        client_secret: 'c',
      });
    expect((await add('nothing')).text).toContain('must be an https URL');
    odd.metadata['authorization_endpoint'] = 'javascript:alert(1)';
    expect((await add(odd.issuer)).text).toContain('not an allowed URL of at most 2048 characters');
    odd.metadata['authorization_endpoint'] = `https://login.example.com/${'a'.repeat(14_000)}`;
    expect((await add(odd.issuer)).text).toContain('not an allowed URL of at most 2048 characters');
    odd.metadata['issuer'] = 'https://evil.example';
    expect((await add(odd.issuer)).text).toContain('The discovery document of the issuer cannot be read');
    const { issuer } = odd;
    await odd.close();
    expect((await add(issuer)).text).toContain('The discovery document of the issuer cannot be read');
  });

  it('requests nothing from private addresses', async () => {
    const strict = await startTestApp({ ...BEHIND_PROXY });
    opened.push(strict);
    const owner = await newOwner(strict);
    const NOT_HTTPS = 'The “Issuer” field must be an https URL, such as https://login.example.com.';
    const NOT_PUBLIC = 'The URL is not a public https URL.';
    for (const [issuer, reason] of [
      [provider.issuer, NOT_HTTPS],
      ['http://example.com', NOT_HTTPS],
      ['https://127.0.0.1', NOT_PUBLIC],
      ['https://localhost', NOT_PUBLIC],
    ] as const) {
      const { status, text } = await owner.visitor.fill(`${SSO_PATH}/configurations/new-openid`, {
        name: 'A',
        issuer,
        client_id: 'b',
        client_secret: 'c',
      });
      expect([issuer, status, text.includes(reason)]).toEqual([issuer, 400, true]);
    }
  });
});

describe('A domain', () => {
  const name = (domain: string): string => `_merchant-connectivity.${domain}`;
  const isProved = async (owner: Owner, domain: string): Promise<boolean> => {
    const rows = await service.database.query(
      `SELECT FROM allowlisted_domain WHERE organization_id = $1 AND domain = $2 AND proved_at IS NOT NULL`,
      [owner.organizationId, domain],
    );
    return rows.length > 0;
  };

  it('is proved by a TXT record with the content of the organization only', async () => {
    const [owner, another] = [await newOwner(service), await newOwner(service)];
    const domain = someDomain();
    const { id, record } = await addDomain(owner, domain);
    const { record: foreign } = await addDomain(another, domain);
    const page = await owner.visitor.get(`${DOMAINS_PATH}/${id}/proof`);
    expect(page.text).toContain(name(domain));
    expect(page.text).toContain(record);

    const none = `There is no TXT record with the name ${name(domain)}.`;
    const other = `The TXT record with the name ${name(domain)} has other content:`;
    for (const [records, reason] of [
      [undefined, none],
      [{ txt: [] }, none],
      [{ a: ['192.0.2.1'] }, none],
      [{ txt: [foreign] }, `${other} “${foreign}”. Its content must be “${record}”.`],
      [{ txt: [`${record}0`] }, `${other} “${record}0”.`],
      [{ txt: [id] }, `${other} “${id}”.`],
      [{ txt: [record.toUpperCase()] }, `${other} “${record.toUpperCase()}”.`],
      [{ txt: ['a', 'b\u0007', 'c'.repeat(200), 'd'] }, `${other} “a”, “b\\u{7}”, “${'c'.repeat(100)}”. Its`],
    ] as const) {
      if (records) dns.set(name(domain), records);
      const { status, text } = await checkDomain(owner, id);
      expect([status, await isProved(owner, domain)]).toEqual([400, false]);
      expect(text).toContain(reason);
    }
    for (const [failure, reason] of [
      [{ errorCode: 2 }, 'did not respond with the record, but with a failure (SERVFAIL)'],
      [{ errorCode: 5 }, 'refused the query (REFUSED)'],
      [{ errorCode: 4 }, 'could not be looked up'],
    ] as const) {
      dns.set(name(domain), failure);
      expect((await checkDomain(owner, id)).text).toContain(reason);
    }
    dns.set(name(domain), { txt: ['v=spf1 -all', record] });
    expect((await checkDomain(owner, id)).location).toBe(`${DOMAINS_PATH}?done=proved`);
    expect(await isProved(owner, domain)).toBe(true);
    expect(await auditOf(service, owner.login)).toEqual(['domain.add success', 'domain.prove success']);
  });

  it('is not proved, nor recorded as proved, if it is removed at the same time', async () => {
    const owner = await newOwner(service);
    const domain = someDomain();
    const { id, record } = await addDomain(owner, domain);
    dns.set(name(domain), { txt: [record] });
    let checking: Promise<unknown> | undefined;
    await service.app.get(DataSource).transaction(async (other) => {
      await other.query('DELETE FROM allowlisted_domain WHERE id = $1', [id]);
      checking = checkDomain(owner, id);
      await eventually('the check waits for the removal', async () => {
        const waiting = await service.database.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return waiting.length > 0;
      });
    });
    await checking;
    expect(await auditOf(service, owner.login)).toEqual(['domain.add success']);
  });

  it.each([
    ['quotes', (record: string) => `"${record}"`],
    ['white space', (record: string) => ` ${record}\t`],
  ])('is proved by a record that was pasted with %s', async (_what, pasted) => {
    const [owner, domain] = [await newOwner(service), someDomain()];
    const { id, record } = await addDomain(owner, domain);
    dns.set(name(domain), { txt: [pasted(record)] });
    expect((await checkDomain(owner, id)).location).toBe(`${DOMAINS_PATH}?done=proved`);
  });

  it('is not proved by a record to whose name the DNS provider added the domain, and the page says so', async () => {
    const [owner, domain] = [await newOwner(service), someDomain()];
    const { id, record } = await addDomain(owner, domain);
    dns.set(`${name(domain)}.${domain}`, { txt: [record] });
    const { status, text } = await checkDomain(owner, id);
    expect(status).toBe(400);
    expect(text).toContain(
      `The record is at ${name(domain)}.${domain}: your DNS provider adds the domain to the name. Enter only _merchant-connectivity as the name.`,
    );
  });

  it('is not proved by a record with the name of the domain alone, and the page says so', async () => {
    const [owner, domain] = [await newOwner(service), someDomain()];
    const { id, record } = await addDomain(owner, domain);
    dns.set(domain, { txt: ['v=spf1 -all', record] });
    expect((await checkDomain(owner, id)).text).toContain(
      `There is no TXT record with the name ${name(domain)}. The record is at ${domain}, which is another name.`,
    );
  });

  it('is proved for exactly one of several organizations, at the same time, too', async () => {
    const domain = someDomain();
    const owners = await Promise.all(Array.from({ length: 4 }, () => newOwner(service)));
    const added = [];
    for (const owner of owners) added.push({ owner, ...(await addDomain(owner, domain)) });
    dns.set(name(domain), { txt: added.map(({ record }) => record) });
    const responses = await Promise.all(added.map(({ owner, id }) => checkDomain(owner, id)));
    expect([countOf(responses, 303), countOf(responses, 400)]).toEqual([1, 3]);
    const refused = responses.find(({ status }) => status === 400);
    expect(refused?.text).toContain('Another organization has proved this domain.');
  });

  it('loses its proof after three days without the record, and single sign-on with it', async () => {
    const job = service.app.get(DomainProofsJob);
    const each = await setUp();
    const user = await addUserAt(each, each.domain);
    const { domain } = each;
    const hasProvider = async () =>
      !(await begin(new Visitor(service), user.email)).text.includes('name="password"');
    const [entry] = await service.database.query<{ id: string }>(
      'SELECT id FROM allowlisted_domain WHERE domain = $1',
      [domain],
    );
    const txt = [`merchant-connectivity-verification=${entry?.id}`];
    const states: boolean[] = [];
    for (const [day, records] of [
      { errorCode: 2 },
      { txt: [] },
      { txt },
      { txt: [] },
      { txt: [] },
      { errorCode: 3 },
      { txt: [] },
    ].entries()) {
      dns.set(name(domain), records);
      using _clock = moveClock(service, (day + 1) * DAY);
      await job.run();
      states.push(await isProvedNow(domain));
    }
    expect(states).toEqual([true, true, true, true, true, true, false]);
    expect(await hasProvider()).toBe(false);
    const rows = await service.database.query(
      `SELECT actor_name, target_name FROM audit_log WHERE action = 'domain.lose_proof' AND target_name = $1`,
      [domain],
    );
    expect(rows).toEqual([{ actor_name: 'system', target_name: domain }]);
    const { visitor, response } = await logIn(await addUser(), claimsOf(user));
    expectRefused(response, visitor, 'not a domain that your organization has proved');
  });

  it.each([
    ['a failure', { errorCode: 2 }],
    ['a refusal', { errorCode: 5 }],
    ['silence', { silentFor: ['TXT' as const] }],
  ])(
    'keeps its proof, however long the DNS servers respond with %s, and each check is logged',
    async (_, records) => {
      const { domain } = await setUp();
      const check = async (day: number, found: Parameters<typeof dns.set>[1]): Promise<void> => {
        dns.set(name(domain), found);
        using _clock = moveClock(service, day * DAY);
        await service.app.get(DomainProofsJob).run();
      };
      await check(1, { txt: [] });
      for (const day of [2, 5, 9]) await check(day, records);
      expect(await isProvedNow(domain)).toBe(true);
      // Nobody would notice otherwise.
      {
        using _clock = moveClock(service, 9 * DAY);
        const overdue = await service.app.get(OverdueWork).read();
        expect(overdue.get('domain_checks')).toBeGreaterThan(DAY);
      }
      const logged = (state: string) => () =>
        logLines().some((line) => line['domain'] === domain && line['state'] === state);
      await eventually('the failure is logged', logged('unknown'));
      await eventually('the missing record is logged', logged('missing'));
      await check(10, { txt: ['v=spf1 -all'] });
      expect(await isProvedNow(domain)).toBe(false);
    },
    60_000,
  );

  const isProvedNow = async (domain: string): Promise<boolean> => {
    const rows = await service.database.query(
      'SELECT 1 FROM allowlisted_domain WHERE domain = $1 AND proved_at IS NOT NULL',
      [domain],
    );
    return rows.length === 1;
  };
});
