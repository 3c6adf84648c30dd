import type { Page } from 'playwright-core';
import { LoginAgent } from '../support/agent-logins.js';
import {
  describeInBrowser,
  inspect,
  tabTo,
  waitForHeading,
  expectEmptyWithFocus,
} from '../support/browser.js';
import { addUser, openSession, type TestUser } from '../support/dashboard-users.js';
import { useTestApp } from '../support/test-app.js';
import { BEHIND_PROXY } from '../support/visitor.js';

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
    await page.getByRole('heading', { level: 1, name: consent }).waitFor();
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
    await page.getByRole('heading', { level: 1, name: consent }).waitFor();
    await tabTo(page, 'Decline');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/callback\?error=access_denied/);
  });

  it('the pages of a user are accessible at every width', async () => {
    const page = await windows.open(service.baseUrl, { bypassPolicy: true });
    const findings: string[] = [];
    await page.goto(agent.authorizePath());
    findings.push(...(await inspect(page, 'agent-login')));
    await page.getByLabel('Code').fill('WRNG-CODE');
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    await page.getByText('This code is not valid').waitFor();
    await expectEmptyWithFocus(page.getByLabel('Code'));
    findings.push(...(await inspect(page, 'agent-login-problem')));
    await enterUser(page, 'inspecting');
    findings.push(...(await inspect(page, 'agent-consent')));
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
    await waitForHeading(page, 'Disconnect the agent?');
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
    await page.getByRole('alert').waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('Copilot');
    findings.push(...(await inspect(page, 'agent-register')));
    await page.getByLabel('Redirect addresses').fill('https://agent.example.com/callback');
    await page.getByRole('button', { name: 'Register agent' }).click();
    await page.getByText('The agent was registered.').waitFor();
    findings.push(...(await inspect(page, 'agent-settings')));

    await page.getByRole('link', { name: 'Remove' }).click();
    await waitForHeading(page, 'Remove the agent?');
    await page.getByRole('button', { name: 'Remove agent' }).click();
    await page.getByText('The agent was removed.').waitFor();
    expect(findings).toEqual([]);
  });
});
