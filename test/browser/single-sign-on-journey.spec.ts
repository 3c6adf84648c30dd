import type { Page } from 'playwright-core';
import { describeInBrowser, inspect, useLogin, waitForHeading } from '../support/pages/browser.js';
import { openSession, type TestUser } from '../support/pages/dashboard-users.js';
import { useDnsServer } from '../support/http/dns-server.js';
import { CookieJar, OpenidProviderServer } from '../support/logins/openid-provider.js';
import {
  addProvider,
  addUserAt,
  newOwner,
  proveDomain,
  providerUrl,
  someDomain,
  SSO_PATH,
} from '../support/logins/single-sign-on.js';
import { useTestApp } from '../support/test-app.js';
import { Visitor, type PageResponse } from '../support/pages/visitor.js';

const dns = useDnsServer();
const service = useTestApp(() => ({ WEBHOOK_TARGETS: 'any', DOMAIN_PROOF_DNS_SERVERS: dns.address }));

const accountOf = ({ id, email }: TestUser) => ({ sub: `account-${id}`, email, email_verified: true });

describe.each([
  ['an ID token with the address', {}],
  ['an ID token without the address, which the UserInfo endpoint returns', { idTokenHasClaims: false }],
  ['a client without a secret, which must use PKCE', { isPublic: true }],
])('Single sign-on with oidc-provider, and %s', (_what, options) => {
  let provider: OpenidProviderServer;
  const client = () => ({
    issuer: provider.issuer,
    clientId: provider.clientId,
    ...(!('isPublic' in options) && { clientSecret: provider.clientSecret }),
  });

  beforeAll(async () => {
    provider = await OpenidProviderServer.start(options);
  });
  afterAll(() => provider.close());

  it('leads from the set-up to a login, and to another one where a recent login is required', async () => {
    const owner = await newOwner(service);
    const domain = await proveDomain(owner, dns);
    const id = await addProvider(owner, client());
    provider.register(`${service.baseUrl}/sso/oidc/${id}`);
    const user = await addUserAt(owner, domain);
    provider.add(accountOf(user));

    const follow = async (visitor: Visitor, page: PageResponse, jar?: CookieJar): Promise<PageResponse> => {
      const { pathname, search } = await provider.logIn(providerUrl(page), user.email, jar);
      return visitor.get(pathname + search);
    };
    await owner.visitor.get(`${SSO_PATH}/${id}`);
    const tested = await follow(owner.visitor, await owner.visitor.submit(`${SSO_PATH}/${id}/test`));
    expect(tested.text).toContain(`With a login, Ada (${user.email}) would be logged in.`);
    await owner.visitor.fill(`${SSO_PATH}/${id}/enable`, {});

    const [visitor, jar] = [new Visitor(service), new CookieJar()];
    const begin = async (again?: string): Promise<PageResponse> => {
      await visitor.get('/login');
      const fields = { step: 'address', email: user.email, ...(again && { again }) };
      return follow(visitor, await visitor.submit('/login', fields), jar);
    };
    expect((await begin()).location).toBe('/dashboard');
    expect((await visitor.get('/account')).text).toContain(user.email);
    // The provider asks the person again, although they are logged in there.
    expect((await begin('page')).location).toBe('/dashboard');
    expect((await visitor.get('/dashboard/users/invitations/new')).status).toBe(200);
  });

  it('says why the provider refused a login', async () => {
    const owner = await newOwner(service);
    const id = await addProvider(owner, client());
    provider.register(`${service.baseUrl}/sso/oidc/${id}`);
    await owner.visitor.get(`${SSO_PATH}/${id}`);
    const url = providerUrl(await owner.visitor.submit(`${SSO_PATH}/${id}/test`));
    const { pathname, search } = await provider.logIn(url, 'nobody@example.com');
    const { status, text } = await owner.visitor.get(pathname + search);
    expect(status).toBe(403);
    expect(text).toContain('The identity provider refused the login (access_denied).');
  });
});

describeInBrowser('Single sign-on in a browser', (windows) => {
  // The identity provider is on another host.
  windows.allowsFindings = true;

  let provider: OpenidProviderServer;

  beforeAll(async () => {
    provider = await OpenidProviderServer.start();
  });
  afterAll(async () => {
    const foreign = windows.findings.filter((finding) => !finding.startsWith(provider.issuer));
    await provider.close();
    expect(foreign).toEqual([]);
  });

  const logInAtProvider = async (page: Page, email: string): Promise<void> => {
    await page.waitForURL(`${provider.issuer}/**`);
    await page.getByLabel('Your address').fill(email);
    await page.getByRole('button', { name: 'Log in here' }).click();
  };

  it('an owner sets it up, and a user logs in, on accessible pages', async () => {
    const owner = await newOwner(service);
    const domain = someDomain();
    const [admin, user] = [await addUserAt(owner, domain), await addUserAt(owner, domain)];
    for (const each of [admin, user]) provider.add(accountOf(each));
    const page = await windows.open(service.baseUrl, { bypassPolicy: true });
    const findings: string[] = [];
    const inspected = async (name: string) => void findings.push(...(await inspect(page, name)));
    await useLogin(page.context(), service.baseUrl, await openSession(service, admin));

    let clicks = 0;
    const click = async (role: 'button' | 'link', name: string): Promise<void> => {
      clicks += 1;
      await page.getByRole(role, { name, exact: true }).click();
    };
    await page.goto('/dashboard');
    await click('link', 'Single sign-on');
    await waitForHeading(page, 'Single sign-on');
    await inspected('sso-nothing');
    await page.getByLabel('Domain', { exact: true }).fill(domain);
    await click('button', 'Add domain');
    await page.getByRole('region', { name: 'Content' }).waitFor();
    await inspected('sso-domain');
    const record = await page.getByRole('region', { name: 'Content' }).textContent();
    dns.set(`_merchant-connectivity.${domain}`, { txt: [record ?? ''] });
    await click('button', 'Check the record now');
    await page.getByText('The domain is proved.').waitFor();
    // The address is known before the provider is added, and stays the same.
    const redirectAddress = async (): Promise<string> =>
      (await page.getByRole('region', { name: 'Redirect address' }).textContent()) ?? '';
    const address = await redirectAddress();
    provider.register(address);
    await page.reload();
    expect(await redirectAddress()).toBe(address);
    await page.getByLabel('Name', { exact: true }).fill('Example login');
    await page.getByLabel('Issuer').fill(provider.issuer);
    await page.getByLabel('Client ID').fill(provider.clientId);
    await page.getByLabel('Client secret').fill(provider.clientSecret);
    await click('button', 'Add identity provider');
    await page.getByText('The identity provider was added.').waitFor();
    expect(await redirectAddress()).toBe(address);
    await inspected('sso-provider');
    await click('button', 'Test login');
    await logInAtProvider(page, admin.email);
    await waitForHeading(page, 'The test succeeded');
    // Without the code of the response.
    expect(new URL(page.url()).pathname).toMatch(/^\/dashboard\/single-sign-on\/[\w-]{36}$/);
    await inspected('sso-tested');
    await click('button', 'Enable single sign-on');
    await page.getByText('Single sign-on is enabled.').waitFor();
    expect(clicks).toBe(6);
    await inspected('sso-openid');
    await page.goto('/dashboard/single-sign-on');
    await inspected('sso-enabled');
    await page.goBack();

    // With the content security policy, which allows forms to lead to this service only.
    const other = await windows.open(service.baseUrl);
    await other.goto('/account');
    await other.getByLabel('Email address').fill(user.email);
    await other.getByRole('button', { name: 'Continue' }).click();
    await logInAtProvider(other, user.email);
    await other.waitForURL('**/account');
    expect(await other.getByText(user.email).count()).toBeGreaterThan(0);

    await page.reload();
    await inspected('sso-openid-logins');
    await page.locator('td', { hasText: user.email }).waitFor();
    const visitor = await windows.open(service.baseUrl, { bypassPolicy: true });
    await visitor.goto('/login');
    findings.push(...(await inspect(visitor, 'login-address', { isLayout: true })));
    await visitor.getByLabel('Email address').fill('nobody@example.com');
    await visitor.getByRole('button', { name: 'Continue' }).click();
    await visitor.getByLabel('Password').waitFor();
    findings.push(...(await inspect(visitor, 'login-password')));
    await visitor.goto(`/sso/oidc/${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}?state=x`);
    findings.push(...(await inspect(visitor, 'sso-failed')));
    expect(findings).toEqual([]);
  });

  it('works without JavaScript', async () => {
    const owner = await newOwner(service);
    const domain = await proveDomain(owner, dns);
    const id = await addProvider(owner, provider);
    provider.register(`${service.baseUrl}/sso/oidc/${id}`);
    const user = await addUserAt(owner, domain);
    provider.add(accountOf(user));
    await service.database.query('UPDATE saml_configuration SET enabled_at = now() WHERE id = $1', [id]);
    const page = await windows.open(service.baseUrl, { javaScript: false });
    await page.goto('/account');
    await page.getByLabel('Email address').fill(user.email);
    await page.getByRole('button', { name: 'Continue' }).click();
    await logInAtProvider(page, user.email);
    await page.waitForURL('**/account');

    // A test leaves no code in the address. No copy of its result is kept.
    const admin = await windows.open(service.baseUrl, { javaScript: false, login: owner.login });
    const configuration = `${SSO_PATH}/${id}`;
    await admin.goto(configuration);
    await admin.getByRole('button', { name: 'Test login' }).click();
    await logInAtProvider(admin, user.email);
    await waitForHeading(admin, 'The test succeeded');
    const shown = new URL(admin.url());
    expect([shown.pathname, ...shown.searchParams.keys()]).toEqual([`/sso/oidc/${id}/test`, 'state']);
    await admin.reload();
    expect(admin.url()).toBe(`${service.baseUrl}${configuration}`);
  });
});
