import type { Page } from 'playwright-core';
import { LoginAgent } from '../support/agents/agent-logins.js';
import {
  describeInBrowser,
  inspect,
  tabTo,
  waitForHeading,
  waitForText,
  expectEmptyWithFocus,
} from '../support/pages/browser.js';
import { addUser, openSession, type TestUser } from '../support/pages/dashboard-users.js';
import { useTestApp } from '../support/test-app.js';
import { BEHIND_PROXY, Visitor } from '../support/pages/visitor.js';

describeInBrowser('Agents that log in, in a browser', (windows) => {
  const service = useTestApp(BEHIND_PROXY);
  let agent: LoginAgent;
  let admin: TestUser;

  beforeAll(async () => {
    // The browser returns to an unknown page of the service.
    agent = await LoginAgent.register(service, { redirectUris: [`${service.baseUrl}/callback`] });
    admin = await addUser(service);
  });
  const consent = /^Connect Test Agent to /;

  async function enterUser(page: Page, user: string): Promise<void> {
    await page.goto(agent.authorizePath());
    await waitForHeading(page, 'Connect Test Agent');
    await page.getByLabel('User ID').fill(user);
    await page.getByRole('button', { name: 'Continue as this user' }).click();
    await waitForHeading(page, consent);
  }

  it.each([true, false])('a user logs in and approves (JavaScript: %s)', async (javaScript) => {
    const page = await windows.open(service.baseUrl, { javaScript });
    await enterUser(page, `approving ${javaScript}`);
    expect(await page.getByRole('main').textContent()).toContain(
      'any program here can claim to be Test Agent',
    );
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.waitForURL(/\/callback\?/);
    const parameters = new URL(page.url()).searchParams;
    expect(parameters.get('state')).toBe('the state');
    expect((await agent.redeem(parameters.get('code') ?? '')).status).toBe(200);
  });

  it('a user declines by keyboard alone with visible focus', async () => {
    const page = await windows.open(service.baseUrl);
    await page.goto(agent.authorizePath());
    await tabTo(page, 'User ID');
    await page.keyboard.type('declining');
    await page.keyboard.press('Enter');
    await waitForHeading(page, consent);
    await tabTo(page, 'Decline');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/callback\?error=access_denied/);
  });

  it('a window that an agent has opened still knows the agent after a login in the dashboard', async () => {
    const member = await addUser(service);
    const page = await windows.open(service.baseUrl);
    const begun = await new Visitor(service).get(agent.authorizePath());
    const id = begun.location?.split('/').at(-1) ?? '';
    // Any page of another site: without a policy of its own.
    await page.goto('/healthz');
    const opened = page.waitForEvent('popup');
    await page.evaluate((path) => {
      const { open } = globalThis as unknown as { open(path: string): void };
      open(path);
    }, `/dashboard/development/agents/log-in?authorization_id=${id}`);
    const popup = await opened;
    const knowsAgent = (): Promise<boolean> =>
      popup.evaluate(() => (globalThis as unknown as { opener: unknown }).opener !== null);
    await popup.getByRole('link', { name: 'Log in with a password' }).click();
    // Both pages have the field of the address.
    await popup.getByLabel('Password').waitFor();
    await popup.getByLabel('Email address').fill(member.email);
    await popup.getByLabel('Password').fill(member.password);
    await popup.getByRole('button', { name: 'Log in', exact: true }).click();
    await waitForHeading(popup, 'Log in as a test user');
    expect(await knowsAgent()).toBe(true);
    await popup.getByLabel('User ID').fill('popup');
    await popup.getByRole('button', { name: 'Continue as this user' }).click();
    await popup.waitForURL(/\/connections\//);
    expect(await knowsAgent()).toBe(true);
    // The rest of the dashboard does not.
    await popup.evaluate(() => {
      (globalThis as unknown as { location: { href: string } }).location.href = '/account';
    });
    await popup.waitForURL(/\/account$/);
    expect(await knowsAgent()).toBe(false);
  });

  it('the pages of a user are accessible at every width', async () => {
    const page = await windows.open(service.baseUrl, { bypassPolicy: true });
    const findings: string[] = [];
    await page.goto(agent.authorizePath());
    const widthOf = (): Promise<unknown> => page.evaluate('document.querySelector("main").offsetWidth');
    const width = await widthOf();
    findings.push(...(await inspect(page, 'agent-login')));
    await page.getByLabel('Code').fill('WRNG-CODE');
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    await waitForText(page, 'This code is not valid');
    await expectEmptyWithFocus(page.getByLabel('Code'));
    findings.push(...(await inspect(page, 'agent-login-problem')));
    await enterUser(page, 'inspecting');
    expect(await widthOf()).toBe(width);
    expect(await page.getByRole('main').textContent()).toContain('You continue as inspecting.');
    expect(await page.locator('main button:not(.second, .quiet)').allTextContents()).toEqual(['Approve']);
    findings.push(...(await inspect(page, 'agent-consent')));
    await page.getByRole('button', { name: 'Not you?' }).click();
    await waitForHeading(page, 'Connect Test Agent');
    await page.getByLabel('User ID').fill('another');
    await page.getByRole('button', { name: 'Continue as this user' }).click();
    await page.getByText('You continue as another.').waitFor();
    const path = page.url();
    await page.getByRole('button', { name: 'Decline' }).click();
    await page.waitForURL(/\/callback\?/);
    await page.goto(path);
    await waitForHeading(page, 'This request was declined');
    findings.push(...(await inspect(page, 'agent-declined')));
    await page.goto(agent.authorizePath({ redirect_uri: 'https://elsewhere.example.com/' }));
    await waitForHeading(page, 'The agent cannot be connected');
    findings.push(...(await inspect(page, 'agent-refused')));
    expect(findings).toEqual([]);
  });

  it('an admin sees, allows, registers, removes and disconnects agents', async () => {
    const login = await openSession(service, admin);
    const page = await windows.open(service.baseUrl, { bypassPolicy: true, login });
    const findings: string[] = [];
    await page.goto('/dashboard/production/agents');
    await page.getByText('No agents are connected').waitFor();
    findings.push(...(await inspect(page, 'agents-empty')));

    await agent.connect('shown');
    await page.goto('/dashboard/development/agents?external_user_id=shown');
    findings.push(...(await inspect(page, 'agents')));
    await page.getByRole('link', { name: 'Disconnect' }).click();
    await page.getByRole('heading', { level: 1, name: /^Disconnect .* of .*shown.*\?$/ }).waitFor();
    findings.push(...(await inspect(page, 'agent-disconnect')));
    await page.getByRole('button', { name: 'Disconnect agent' }).click();
    await page.getByText('The agent was disconnected.').waitFor();

    await page.getByRole('main').getByRole('link', { name: 'Settings' }).click();
    await waitForHeading(page, 'Settings for agents');
    await page.getByLabel('Your login page').fill('https://shop.example.com/login');
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('The settings were saved.').waitFor();
    expect(await page.getByLabel('Your login page').inputValue()).toBe('https://shop.example.com/login');

    await page.getByRole('link', { name: 'Register agent' }).click();
    await waitForHeading(page, 'Register an agent');
    await page.getByLabel('Name').fill('Copilot');
    await page.getByLabel('Redirect addresses').fill('http://insecure.example.com/');
    await page.getByRole('button', { name: 'Register agent' }).click();
    await page.getByText('Each redirect URI must be').waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('Copilot');
    findings.push(...(await inspect(page, 'agent-register')));
    await page.getByLabel('Redirect addresses').fill('https://agent.example.com/callback');
    await page.getByRole('button', { name: 'Register agent' }).click();
    await page.getByText('The agent was registered.').waitFor();
    findings.push(...(await inspect(page, 'agent-settings')));

    await page.getByRole('link', { name: 'Remove' }).click();
    await page.getByRole('heading', { level: 1, name: /^Remove .*Copilot.*\?$/ }).waitFor();
    await page.getByRole('button', { name: 'Remove agent' }).click();
    await page.getByText('The agent was removed.').waitFor();
    expect(findings).toEqual([]);
  });
});
