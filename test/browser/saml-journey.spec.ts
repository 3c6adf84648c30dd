import { randomBytes } from 'node:crypto';
import type { Page } from 'playwright-core';
import { describeInBrowser, inspect, useLogin, waitForHeading } from '../support/pages/browser.js';
import { openSession } from '../support/pages/dashboard-users.js';
import { useDnsServer } from '../support/http/dns-server.js';
import { SamlTestProvider, type SamlAccount } from '../support/logins/saml-provider.js';
import { addUserAt, newOwner, proveDomain, type Owner } from '../support/logins/single-sign-on.js';
import { useTestApp } from '../support/test-app.js';

const dns = useDnsServer();
const service = useTestApp(() => ({ WEBHOOK_TARGETS: 'any', DOMAIN_PROOF_DNS_SERVERS: dns.address }));

/** Shows the page of the provider, which is on another site, and logs in this account there. */
async function provide(
  page: Page,
  provider: SamlTestProvider,
  account: SamlAccount,
  id: () => string,
): Promise<void> {
  await page.route(`${provider.loginUrl}**`, async (route) => {
    const metadata = await (await fetch(`${service.baseUrl}/sso/saml/${id()}/metadata`)).text();
    const form = await provider.respondTo(route.request().url(), metadata, account);
    const fields = Object.entries(form).map(
      ([name, value]) => `<input type="hidden" name="${name}" value="${value}">`,
    );
    await route.fulfill({
      contentType: 'text/html',
      body:
        `<!doctype html><html lang="en"><title>Provider</title><main><h1>Log in at the provider</h1>` +
        `<form method="post" action="${service.baseUrl}/sso/saml/${id()}">${fields.join('')}<button>Log in here</button></form></main>`,
    });
  });
}

const atProvider = (page: Page): Promise<void> => page.getByRole('button', { name: 'Log in here' }).click();

async function logInWithPassword(page: Page, { email, password }: { email: string; password: string }) {
  await page.goto('/login?with=password');
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
}

async function beginAt(page: Page, email: string): Promise<void> {
  await page.goto('/account');
  await page.getByLabel('Email address').fill(email);
  await page.getByRole('button', { name: 'Continue' }).click();
}

describeInBrowser('Single sign-on with SAML', (windows) => {
  // The identity provider is on another host.
  windows.allowsFindings = true;

  const someone = (domain: string): string => `${randomBytes(6).toString('hex')}@${domain}`;

  /** An organization with a proved domain, and an owner who can log in with a password. */
  async function newOrganization(): Promise<{
    owner: Owner;
    domain: string;
    boss: Awaited<ReturnType<typeof addUserAt>>;
  }> {
    const owner = await newOwner(service);
    const domain = await proveDomain(owner, dns);
    const boss = await addUserAt(owner, domain);
    await service.database.query(`UPDATE dashboard_user SET role = 'owner' WHERE id = $1`, [boss.id]);
    return { owner, domain, boss };
  }

  it.each([
    ['with scripts', true],
    ['without scripts', false],
  ])('leads from the set-up to the first login of a new colleague, %s', async (_what, javaScript) => {
    const { domain, boss } = await newOrganization();
    const provider = await SamlTestProvider.create();
    const page = await windows.open(service.baseUrl, {
      javaScript,
      ...(javaScript && { bypassPolicy: true }),
    });
    const findings: string[] = [];
    const inspected = async (name: string) => {
      if (javaScript) findings.push(...(await inspect(page, name)));
    };
    let id = '';
    await provide(page, provider, { nameId: 'the boss', email: boss.email }, () => id);
    await useLogin(page.context(), service.baseUrl, await openSession(service, boss));
    await page.goto('/dashboard/single-sign-on');
    await page.getByRole('link', { name: 'add a provider with SAML' }).click();
    await waitForHeading(page, 'Add an identity provider with SAML');
    await inspected('saml-new');
    await page.getByLabel('Name', { exact: true }).fill('Example login');
    await page.getByLabel('Metadata', { exact: true }).fill(provider.metadata());
    await page.getByRole('button', { name: 'Add identity provider' }).click();
    await waitForHeading(page, 'Example login');
    id = /single-sign-on\/([\w-]{36})/.exec(page.url())?.[1] ?? '';
    await inspected('saml-configuration');

    await page.getByRole('button', { name: 'Test login' }).click();
    await atProvider(page);
    await waitForHeading(page, 'The test succeeded');
    await page.getByText(`With a login, Ada (${boss.email}) would be logged in.`).waitFor();
    await inspected('saml-tested');
    await page.getByRole('link', { name: 'Back to Example login' }).click();
    await page.getByRole('link', { name: 'Enable' }).click();
    await waitForHeading(page, 'Enable Example login?');
    await page.getByRole('button', { name: 'Enable single sign-on' }).click();
    await page.getByText('Single sign-on is enabled.').waitFor();

    await page.goto('/dashboard/single-sign-on');
    await inspected('saml-configurations');
    await page.getByRole('switch', { name: 'New people become users at their first login' }).check();
    await inspected('sso-settings');
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('The settings were changed.').waitFor();

    const email = someone(domain);
    const other = await windows.open(service.baseUrl, { javaScript });
    await provide(other, provider, { nameId: 'a new colleague', email }, () => id);
    await beginAt(other, email);
    await atProvider(other);
    await other.waitForURL('**/account');
    expect(await other.getByText(email).count()).toBeGreaterThan(0);
    expect(findings).toEqual([]);
  });

  it('can be required, and a break-glass owner still logs in when the provider does not work', async () => {
    const { domain, boss, owner } = await newOrganization();
    const provider = await SamlTestProvider.create();
    const { location } = await owner.visitor.fill('/dashboard/single-sign-on/configurations/new', {
      name: 'Example login',
      metadata_xml: provider.metadata(),
    });
    const id = /single-sign-on\/([\w-]{36})/.exec(location ?? '')?.[1] ?? '';
    await service.database.query(
      'UPDATE saml_configuration SET enabled_at = now(), tested_at = now() WHERE id = $1',
      [id],
    );
    const page = await windows.open(service.baseUrl, { bypassPolicy: true });
    await logInWithPassword(page, boss);
    await page.waitForURL('**/dashboard/**');
    await page.goto('/dashboard/single-sign-on');
    await page.getByRole('switch', { name: 'Users must log in at the identity provider' }).check();
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('The settings were changed.').waitFor();
    await page.getByRole('row', { name: boss.email }).getByText('Yes').waitFor();
    expect(await inspect(page, 'sso-required')).toEqual([]);

    const user = await addUserAt(owner, domain);
    const other = await windows.open(service.baseUrl);
    // The provider does not work.
    await other.route(`${provider.loginUrl}**`, (route) => route.abort());
    await logInWithPassword(other, user);
    await other.getByText('The email address or password is wrong.').waitFor();
    const third = await windows.open(service.baseUrl);
    await logInWithPassword(third, boss);
    await third.waitForURL('**/dashboard/**');
    await third.goto('/dashboard/single-sign-on');
    await waitForHeading(third, 'Single sign-on');
  });
});
