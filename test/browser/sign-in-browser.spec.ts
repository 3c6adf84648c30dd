import type { Page } from 'playwright-core';
import {
  describeInBrowser,
  inspect,
  tabTo,
  waitForHeading,
  waitForText,
  type WindowOptions,
  expectEmptyWithFocus,
} from '../support/pages/browser.js';
import { newLink } from '../support/merchants/sign-in-links.js';
import { SignInLinksService } from '../../src/modules/sign-in-links/index.js';
import { useTestApp } from '../support/test-app.js';

const PHONE = { width: 390, height: 844 };

describeInBrowser('Sign-in links in a browser', (windows) => {
  const service = useTestApp({ SIGN_IN_FORMS_PER_MINUTE: '1000' });

  const open = (options?: WindowOptions): Promise<Page> => windows.open(service.baseUrl, options);
  const button = (page: Page, name: string): Promise<void> => page.getByRole('button', { name }).click();

  async function signIn(page: Page, userName: string, password = 'pass_good'): Promise<void> {
    await page.getByLabel('Your Netflix user name or email address').fill(userName);
    await page.getByLabel('Your Netflix password').fill(password);
    await button(page, 'Sign in');
  }

  it.each([true, false])(
    'a user signs in on a phone with a one-time code (JavaScript: %s)',
    async (javaScript) => {
      const { path, agent, id } = await newLink(service);
      const page = await open({ javaScript, size: PHONE });
      await page.goto(path);
      await waitForHeading(page, 'Sign in to Netflix');
      expect(await page.getByText('Test organization asks to connect your Netflix account').count()).toBe(1);
      await signIn(page, 'user_otp');
      await waitForHeading(page, 'Enter the code from Netflix');
      await page.getByLabel('One-time code').fill('123456');
      await button(page, 'Continue');
      await waitForHeading(page, 'You are signed in');
      // Reloading the page does not send the form again.
      await page.reload();
      await waitForHeading(page, 'You are signed in');
      await page.goto(path);
      await waitForHeading(page, 'This link was already used');
      expect(await service.app.get(SignInLinksService).find(agent, id)).toMatchObject({
        status: 'completed',
      });
    },
  );

  it('a user signs in by keyboard alone with visible focus', async () => {
    const { path } = await newLink(service);
    const page = await open();
    await page.goto(path);
    await tabTo(page, 'Your Netflix user name or email address');
    await page.keyboard.type('user_good');
    await tabTo(page, 'Your Netflix password');
    await page.keyboard.type('pass_good');
    await page.keyboard.press('Enter');
    await waitForHeading(page, 'You are signed in');
  });

  it('a user declines by keyboard alone', async () => {
    const { path } = await newLink(service);
    const page = await open({ size: PHONE });
    await page.goto(path);
    await tabTo(page, 'Decline');
    await page.keyboard.press('Enter');
    await waitForHeading(page, 'You declined');
  });

  it('the form and the way to decline are on the first two screens of a phone', async () => {
    const { path } = await newLink(service);
    const page = await open({ size: PHONE });
    await page.goto(path);
    const bottomOf = (name: string) =>
      page.getByRole('button', { name }).evaluate((each) => each.getBoundingClientRect().bottom);
    expect(await bottomOf('Sign in')).toBeLessThan(PHONE.height);
    expect(await bottomOf('Decline')).toBeLessThan(2 * PHONE.height);
  });

  it('a user who opened the link on two devices signs in on one', async () => {
    const { path } = await newLink(service);
    const [phone, desk] = [await open({ size: PHONE }), await open()];
    for (const page of [phone, desk]) await page.goto(path);
    await signIn(phone, 'user_good');
    await waitForHeading(phone, 'You are signed in');
    await signIn(desk, 'user_good');
    await waitForHeading(desk, 'This link was already used');
  });

  it('every kind of page is accessible in both color schemes', async () => {
    const page = await open({ bypassPolicy: true });
    const inspected = async (name: string) => expect(await inspect(page, `sign-in-${name}`)).toEqual([]);
    const fresh = async () => {
      const link = await newLink(service);
      await page.goto(link.path);
      return link;
    };
    await fresh();
    await inspected('form');
    await signIn(page, 'user_good', 'wrong');
    await waitForText(page, 'did not accept the user name or the password');
    await expectEmptyWithFocus(page.getByLabel('Your Netflix password'));
    await inspected('wrong');
    await signIn(page, 'user_otp');
    await waitForHeading(page, 'Enter the code from Netflix');
    await inspected('code');
    await page.getByLabel('One-time code').fill('1');
    await button(page, 'Continue');
    await waitForText(page, 'did not accept this code');
    await expectEmptyWithFocus(page.getByLabel('One-time code'));
    await inspected('code-wrong');
    await page.getByLabel('One-time code').fill('123456');
    await button(page, 'Continue');
    await waitForHeading(page, 'You are signed in');
    await inspected('done');
    await page.goto(new URL(page.url()).pathname);
    await inspected('used');
    await fresh();
    await signIn(page, 'user_locked');
    await waitForHeading(page, 'The sign-in failed');
    await inspected('failed');
    await page.goto('/sign-in/unknown');
    await inspected('unknown');
  });
});
