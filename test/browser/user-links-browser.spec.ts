import type { Page } from 'playwright-core';
import { startWebsite, type Website } from '../../examples/partner-login/server.mjs';
import { LoginAgent } from '../support/agents/agent-logins.js';
import { mcpToken, CLIENTS } from '../support/agents/agents.js';
import {
  describeInBrowser,
  inspect,
  tabTo,
  waitForHeading,
  type WindowOptions,
} from '../support/pages/browser.js';
import { saveAgentSettings } from '../support/pages/dashboard-forms.js';
import { NETFLIX } from '../support/merchants/sign-in-links.js';
import { useTestApp } from '../support/test-app.js';
import { createLink } from '../support/agents/user-links.js';
import { BEHIND_PROXY } from '../support/pages/visitor.js';

const PHONE = { width: 390, height: 844 };
/** The users of `examples/partner-login`, by the ID that the service knows. */
const USERS = { 'user-ada': ['ada', 'correct horse'], 'user-bo': ['bo', 'battery staple'] } as const;

describeInBrowser('Links and the page of a user, with examples/partner-login', (windows) => {
  const service = useTestApp({ ...BEHIND_PROXY, SIGN_IN_FORMS_PER_MINUTE: '1000' });
  let website: Website;

  beforeAll(async () => {
    const { clientId, secret: clientSecret } = service.development;
    website = await startWebsite({ serviceUrl: service.baseUrl, clientId, clientSecret });
    const fields = { allowed_agents: 'any', login_url: `${website.url}/connect-agent` };
    expect((await saveAgentSettings(service, await service.login('owner'), fields)).status).toBe(303);
  });
  afterAll(() => {
    website.close();
    // The browser also opens the website of the partner.
    expect(windows.findings.filter((finding) => !finding.startsWith(website.url))).toEqual([]);
    windows.allowsFindings = true;
  });
  beforeEach(() => service.database.query('DELETE FROM attempt_count'));

  const open = (options?: WindowOptions): Promise<Page> => windows.open(service.baseUrl, options);
  const press = (page: Page, name: string | RegExp): Promise<void> =>
    page.getByRole('button', { name }).first().click();

  async function logIn(page: Page, user: keyof typeof USERS): Promise<void> {
    await waitForHeading(page, 'Log in');
    const [name, password] = USERS[user];
    await page.getByLabel('Name').fill(name);
    await page.getByLabel('Password').fill(password);
    await press(page, 'Log in');
  }

  async function signIn(page: Page): Promise<void> {
    await waitForHeading(page, 'Sign in to Netflix');
    await page.getByLabel('Your Netflix user name or email address').fill('user_good');
    await page.getByLabel('Your Netflix password').fill('pass_good');
    await press(page, 'Sign in');
  }

  it.each([true, false])('a mailed link connects the account (JavaScript: %s)', async (javaScript) => {
    const { body: link } = await createLink(service, { external_user_id: 'user-ada' });
    const page = await open({ javaScript, size: PHONE });
    await page.goto(link.url);
    await waitForHeading(page, 'Connect your Netflix account');
    await press(page, 'Log in to Test organization');
    await logIn(page, 'user-ada');
    await signIn(page);
    await waitForHeading(page, 'You are signed in');
  });

  it('a user connects an account from the website, and returns to it', async () => {
    const page = await open();
    await page.goto(`${website.url}/`);
    await logIn(page, 'user-bo');
    await press(page, 'Connect an account');
    await press(page, 'Log in to Test organization');
    await signIn(page);
    await waitForHeading(page, 'Your accounts');
    expect(await page.getByText('Netflix: completed').count()).toBe(1);
    expect(await page.getByText('Connected: Netflix').count()).toBe(1);
  });

  it('another user is refused, and the owner still gets in', async () => {
    const { body: link } = await createLink(service, { external_user_id: 'user-bo' });
    const page = await open();
    await page.goto(link.url);
    await press(page, 'Log in to Test organization');
    await logIn(page, 'user-ada');
    await waitForHeading(page, 'This link is for somebody else');
    const own = await open();
    await own.goto(link.url);
    await press(own, 'Log in to Test organization');
    await logIn(own, 'user-bo');
    await waitForHeading(own, 'Sign in to Netflix');
    // The website keeps users logged in, and asks who logs in now.
    await press(page, 'Log in with the other account');
    await logIn(page, 'user-bo');
    await waitForHeading(page, 'Sign in to Netflix');
  });

  it('a user outside the US connects an account with a link of an agent, by keyboard alone', async () => {
    const [connect] = Object.values(CLIENTS);
    const agent = await connect!(service.baseUrl, await mcpToken(service, 'user-bo', { phone_number: null }));
    const { url } = await agent.result<{ url: string }>('create_sign_in_link', { merchant_id: NETFLIX.id });
    const page = await open();
    await page.goto(url);
    await tabTo(page, 'Log in to Test organization');
    await page.keyboard.press('Enter');
    await logIn(page, 'user-bo');
    await waitForHeading(page, 'Sign in to Netflix');
    await tabTo(page, 'Your Netflix user name or email address');
    await page.keyboard.type('user_good');
    await tabTo(page, 'Your Netflix password');
    await page.keyboard.type('pass_good');
    await page.keyboard.press('Enter');
    await waitForHeading(page, 'You are signed in');
    await agent.close();
  });

  it.each([true, false])(
    'a user disconnects an agent and unlinks an account on a phone (JavaScript: %s)',
    async (javaScript) => {
      const agent = await LoginAgent.register(service, { redirectUris: [`${service.baseUrl}/callback`] });
      const page = await open({ javaScript, size: PHONE });
      await page.goto(agent.authorizePath());
      await logIn(page, 'user-ada');
      await page.getByRole('heading', { level: 1, name: /^Connect Test Agent to / }).waitFor();
      await press(page, 'Approve');
      await page.waitForURL(/\/callback\?/);
      await agent.redeem(new URL(page.url()).searchParams.get('code') ?? '');
      const body = { external_user_id: 'user-ada', merchant_id: NETFLIX.id };
      await service.request('/development/accounts/link', { body, as: service.development });
      await createLink(service, { external_user_id: 'user-ada' });

      await page.goto(`${website.url}/`);
      await page.getByRole('link', { name: 'Who acts for you' }).click();
      await press(page, 'Log in to Test organization');
      await page.getByRole('heading', { level: 2, name: 'Assistants' }).waitFor();
      for (const [link, heading, button, ended] of [
        [
          'Disconnect Test Agent',
          'Disconnect Test Agent?',
          'Disconnect',
          /^Test Agent \(127\.0\.0\.1\), allowed .+, can no longer act/,
        ],
        [
          'Unlink Netflix',
          'Unlink Netflix?',
          'Unlink',
          /^Your account at Netflix, connected .+, is no longer/,
        ],
        [
          'Cancel link Netflix',
          'Cancel the link for Netflix?',
          'Cancel link',
          /^The link for Netflix, sent .+, no/,
        ],
      ] as const) {
        const ending = page.getByRole('link', { name: link, exact: true });
        const tapped = await ending.boundingBox();
        await ending.click();
        await waitForHeading(page, heading);
        // However far the page was scrolled, the second tap of a double tap misses the button.
        const confirming = await page.getByRole('button', { name: button, exact: true }).boundingBox();
        expect(confirming?.x).toBeGreaterThan((tapped?.x ?? 0) + (tapped?.width ?? PHONE.width));
        await page.getByRole('link', { name: 'Go back' }).click();
        await ending.click();
        await waitForHeading(page, heading);
        await press(page, button);
        await page.getByText(ended).waitFor();
      }
      await press(page, 'Close this page');
      await waitForHeading(page, 'You are logged out of this page');
    },
  );

  it('the second tap of a double tap on a scrolled list confirms nothing', async () => {
    const body = { external_user_id: 'user-bo', merchant_id: NETFLIX.id };
    await service.request('/development/accounts/link', { body, as: service.development });
    const page = await open({ size: { ...PHONE, height: 600 } });
    await page.goto(`/users/${service.development.clientId}`);
    await press(page, 'Log in to Test organization');
    await logIn(page, 'user-bo');
    const link = page.getByRole('link', { name: 'Unlink Netflix', exact: true });
    await link.click();
    await waitForHeading(page, 'Unlink Netflix?');
    const button = (await page.getByRole('button', { name: 'Unlink', exact: true }).boundingBox())!;
    await page.getByRole('link', { name: 'Go back' }).click();
    // The list is scrolled to where its button is as high as the one that confirms.
    const below = (await link.boundingBox())!.y - button.y;
    await page.evaluate((by) => window.scrollBy(0, by), below);
    const tapped = (await link.boundingBox())!;
    expect(Math.abs(tapped.y - button.y)).toBeLessThan(button.height / 2);
    const at = [tapped.x + tapped.width - 4, tapped.y + tapped.height / 2] as const;
    await page.mouse.click(...at);
    await waitForHeading(page, 'Unlink Netflix?');
    await page.mouse.click(...at);
    await page.waitForTimeout(300);
    await page.goto(`/users/${service.development.clientId}`);
    expect(await link.count()).toBe(1);
  });

  it('every page is accessible at every width, also with names from right to left', async () => {
    const [{ name }] = (await service.database.query<{ name: string }>('SELECT name FROM organization')) as [
      { name: string },
    ];
    await service.database.query("UPDATE organization SET name = 'חנות לדוגמה'");
    const page = await open({ bypassPolicy: true });
    const findings: string[] = [];
    const inspected = async (shown: string): Promise<void> =>
      void findings.push(...(await inspect(page, `user-links-${shown}`)));
    const { body: link } = await createLink(service, { external_user_id: 'user-ada' });
    await page.goto(link.url);
    await inspected('start');
    await press(page, /^Log in to /);
    await logIn(page, 'user-bo');
    await waitForHeading(page, 'This link is for somebody else');
    await inspected('other-user');
    await page.goto(`/users/${service.development.clientId}`);
    await inspected('page-start');
    await press(page, /^Log in to /);
    await page.getByRole('heading', { level: 2, name: 'Assistants' }).waitFor();
    await inspected('page-empty');
    await createLink(service, { external_user_id: 'user-bo' });
    const body = { external_user_id: 'user-bo', merchant_id: NETFLIX.id };
    await service.request('/development/accounts/link', { body, as: service.development });
    await page.reload();
    await inspected('page');
    await page.getByRole('link', { name: 'Unlink Netflix' }).click();
    await waitForHeading(page, 'Unlink Netflix?');
    await inspected('page-asks');
    await page.goto('/users/unknown');
    await inspected('page-unknown');
    expect(findings).toEqual([]);
    await service.database.query('UPDATE organization SET name = $1', [name]);
  });
});
