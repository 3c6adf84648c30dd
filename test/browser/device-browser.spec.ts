import type { Page } from 'playwright-core';
import {
  describeInBrowser,
  inspect,
  tabTo,
  type WindowOptions,
  waitForFocus,
  waitForHeading,
  waitForText,
} from '../support/pages/browser.js';
import { moveClock } from '../support/clock.js';
import { addUser, auditOf, openSession, type TestUser } from '../support/pages/dashboard-users.js';
import { poll, startFlow } from '../support/logins/device-flow.js';
import { useTestApp } from '../support/test-app.js';

describeInBrowser('Approval in a browser', (windows) => {
  const service = useTestApp({ TRUSTED_PROXY_HOPS: '1' });
  let user: TestUser;
  let login: { readonly cookie: string };

  beforeAll(async () => {
    user = await addUser(service);
    login = await openSession(service, user);
  });
  const open = (options?: WindowOptions): Promise<Page> => windows.open(service.baseUrl, options);

  async function enter(page: Page, userCode: string): Promise<void> {
    await page.goto('/device');
    await page.getByLabel('Code').fill(userCode);
    await page.getByRole('button', { name: 'Continue' }).click();
  }
  async function atDecision(page: Page, userCode: string): Promise<void> {
    await enter(page, userCode);
    await waitForHeading(page, 'Approve this device?');
  }

  it.each([true, false])(
    'a user who has to log in first returns and approves (JavaScript: %s)',
    async (javaScript) => {
      const approver = await addUser(service);
      const flow = await startFlow(service);
      const page = await open({ javaScript });
      await page.goto(new URL(flow.verification_uri).pathname);
      await waitForHeading(page, 'Log in');
      await page.getByLabel('Email address').fill(approver.email);
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByLabel('Password').fill(approver.password);
      await page.getByRole('button', { name: 'Log in' }).click();
      await waitForHeading(page, 'Connect a device');
      await page.getByLabel('Code').fill(flow.user_code.toLowerCase().replace('-', ' '));
      await page.getByRole('button', { name: 'Continue' }).click();
      await waitForHeading(page, 'Approve this device?');
      expect(await page.locator('strong.code').textContent()).toBe(flow.user_code);
      expect(await page.getByText(service.development.clientId).count()).toBe(1);
      await page.getByRole('button', { name: 'Approve' }).click();
      await waitForHeading(page, 'Device approved');
      // Reloading the page does not decide again.
      await page.reload();
      await waitForHeading(page, 'Device approved');

      expect((await poll(service, flow)).status).toBe(200);
      expect(await auditOf(service, approver)).toEqual(['auth.login success', 'auth.device_approve success']);
    },
  );

  it('a user declines with the mouse', async () => {
    const flow = await startFlow(service);
    const page = await open({ login });
    await atDecision(page, flow.user_code);
    await page.getByRole('button', { name: 'Decline' }).click();
    await waitForHeading(page, 'Device declined');
    expect((await poll(service, flow)).body).toMatchObject({ error: 'access_denied' });
  });

  it.each([
    ['Approve', 'Device approved', 200],
    ['Decline', 'Device declined', 400],
  ])('a user decides by keyboard alone with visible focus: %s', async (decision, title, status) => {
    const flow = await startFlow(service);
    const page = await open();
    await page.goto('/device');
    await tabTo(page, 'Email address');
    await page.keyboard.type(user.email);
    await page.keyboard.press('Enter');
    await waitForFocus(page.getByLabel('Password'));
    await tabTo(page, 'Password');
    await page.keyboard.type(user.password);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/device');
    await tabTo(page, 'Code');
    await page.keyboard.type(flow.user_code);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/device/confirm*');
    await tabTo(page, decision);
    await page.keyboard.press('Space');
    await page.getByRole('heading', { name: title }).waitFor();
    expect((await poll(service, flow)).status).toBe(status);
  });

  it('both choices are equally large, look different, and are on the screen of a phone', async () => {
    const page = await open({ size: { width: 390, height: 844 }, login });
    await atDecision(page, (await startFlow(service)).user_code);
    const [approve, decline] = await Promise.all(
      ['Approve', 'Decline'].map((name) =>
        page.getByRole('button', { name }).evaluate((button) => {
          const { backgroundColor, fontSize, fontWeight } = getComputedStyle(button);
          const { width, height, bottom } = button.getBoundingClientRect();
          return { size: { fontSize, fontWeight, width, height }, backgroundColor, bottom };
        }),
      ),
    );
    expect(approve?.size).toEqual(decline?.size);
    expect(approve?.backgroundColor).not.toBe(decline?.backgroundColor);
    for (const button of [approve, decline]) expect(button?.bottom).toBeLessThan(844);
    const sizes = (await page.evaluate(
      `[...document.querySelectorAll('main *')].map((each) => parseFloat(getComputedStyle(each).fontSize))`,
    )) as number[];
    const code = await page
      .locator('.compared .code')
      .evaluate((each) => parseFloat(getComputedStyle(each).fontSize));
    expect(code).toBe(Math.max(...sizes));
  });

  it('every page is accessible in both color schemes', async () => {
    const page = await open({ bypassPolicy: true, login });
    const inspected = async (name: string) => expect(await inspect(page, name)).toEqual([]);
    await page.goto('/device');
    await inspected('device');
    await enter(page, 'BBBB-BBBB');
    await waitForText(page, 'Code not found.');
    await inspected('device-code-unknown');
    for (const [name, client] of Object.entries({
      development: service.development,
      production: service.production,
    })) {
      await atDecision(page, (await startFlow(service, client)).user_code);
      await inspected(`device-confirm-${name}`);
    }
    await page.getByRole('button', { name: 'Approve' }).click();
    await waitForHeading(page, 'Device approved');
    await inspected('device-approved');
    await atDecision(page, (await startFlow(service)).user_code);
    await page.getByRole('button', { name: 'Decline' }).click();
    await waitForHeading(page, 'Device declined');
    await inspected('device-declined');
    await atDecision(page, (await startFlow(service)).user_code);
    {
      using _clock = moveClock(service, 11 * 60_000);
      await page.getByRole('button', { name: 'Approve' }).click();
      await waitForHeading(page, 'Code expired');
      await inspected('device-expired');
    }
    await page.goto('/device/confirm?request=0190a5b2-7c1e-7e2e-9c6e-2f1a4b5c6d7e');
    await inspected('device-request-unknown');
  });
});
