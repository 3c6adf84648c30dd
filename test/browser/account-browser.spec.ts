import { readFileSync } from 'node:fs';
import type { CDPSession, Page } from 'playwright-core';
import { MINUTE } from '../../src/infrastructure/time/index.js';
import {
  describeInBrowser,
  inspect,
  focused,
  logIn,
  logOut,
  useLogin,
  tabTo,
  type WindowOptions,
  waitForFocus,
  waitForHeading,
  waitForText,
  expectEmptyWithFocus,
} from '../support/pages/browser.js';
import { addUser, auditOf, openSession, type TestUser } from '../support/pages/dashboard-users.js';
import { mailTo, tokenIn } from '../support/messages/mails.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import { useTestApp } from '../support/test-app.js';
import { totpCode } from '../support/logins/totp.js';
import { moveClock } from '../support/clock.js';
import { eventually } from '../support/eventually.js';

const NEW_PASSWORD = 'correct horse battery staple';

describeInBrowser('Logins and accounts in a browser', (windows) => {
  const service = useTestApp();

  beforeAll(async () => {
    rememberSecret(NEW_PASSWORD);
  });
  const open = (options?: WindowOptions): Promise<Page> => windows.open(service.baseUrl, options);

  /** Waits for the page with the recovery codes, and returns them. */
  async function recoveryCodesOn(page: Page): Promise<string[]> {
    await waitForHeading(page, 'Your recovery codes');
    const codes = ((await page.locator('.code-block code').textContent()) ?? '').split('\n');
    rememberSecret(...codes);
    return codes;
  }

  /** @returns the secret and the recovery codes */
  async function setUpSecondFactor(page: Page): Promise<{ secret: string; codes: string[] }> {
    await page.goto('/account');
    await page.getByRole('link', { name: 'Set up two-factor authentication' }).click();
    await page.getByRole('button', { name: 'Set up two-factor authentication' }).click();
    const secret = (await page.locator('code.secret').textContent()) ?? '';
    await page.getByLabel('Code', { exact: true }).fill(totpCode(secret));
    await page.getByRole('button', { name: 'Turn on two-factor authentication' }).click();
    rememberSecret(secret, secret.replaceAll(' ', ''));
    const codes = await recoveryCodesOn(page);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download the codes' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('recovery-codes.txt');
    expect(readFileSync(await download.path(), 'utf8')).toBe(codes.join('\n'));
    return { secret, codes };
  }

  const protectedUser = async (): Promise<TestUser & { secret: string; codes: string[] }> => {
    const user = await addUser(service);
    const page = await open({ login: await openSession(service, user) });
    return { ...user, ...(await setUpSecondFactor(page)) };
  };

  it.each([true, false])('a user logs in and out (JavaScript: %s)', async (javaScript) => {
    const user = await addUser(service);
    const page = await open({ javaScript });
    await page.goto('/account');
    await waitForHeading(page, 'Log in');
    await logIn(page, { email: user.email, password: 'wrong password' });
    expect(await page.getByRole('alert').textContent()).toContain('email address or password is wrong');
    expect(await page.title()).toBe('Error: Log in · Merchant Connectivity');
    // The form keeps the email.
    expect(await page.getByLabel('Email address').inputValue()).toBe(user.email);
    await page.getByLabel('Password').fill(user.password);
    await page.getByRole('button', { name: 'Log in' }).click();
    await waitForHeading(page, 'Overview');
    await page.goto('/account');
    expect(await page.getByText('Chrome on Linux').count()).toBe(1);

    await logOut(page);
    await waitForHeading(page, 'Log in');
    await page.goto('/account');
    await waitForHeading(page, 'Log in');
    expect(await auditOf(service, user)).toEqual([
      'auth.login failure',
      'auth.login success',
      'auth.logout success',
    ]);
  });

  it('scripts cannot read the session cookie', async () => {
    const page = await open();
    await logIn(page, await addUser(service));
    await waitForHeading(page, 'Overview');
    expect(await page.evaluate('document.cookie')).toBe('');
    const cookies = await page.context().cookies();
    expect(cookies.map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite]).toSorted()).toEqual([
      ['browser', true, 'Lax'],
      ['environment', true, 'Lax'],
      ['session', true, 'Lax'],
    ]);
  });

  it('a user sets up a second factor and logs in with it', async () => {
    const user = await addUser(service);
    const page = await open({ login: await openSession(service, user) });
    const { secret, codes } = await setUpSecondFactor(page);
    expect(codes).toHaveLength(10);
    await page.getByRole('link', { name: 'I’ve saved my codes' }).click();
    await waitForHeading(page, 'Your account');
    await logOut(page);
    await waitForHeading(page, 'Log in');

    await logIn(page, user);
    await waitForHeading(page, 'Enter your code');
    await page.getByLabel('Code', { exact: true }).fill('000000');
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await waitForText(page, 'This code is wrong');
    await expectEmptyWithFocus(page.getByLabel('Code', { exact: true }));
    // The current code was used for the setup.
    {
      using _clock = moveClock(service, 30_000);
      await page.getByLabel('Code', { exact: true }).fill(totpCode(secret, Date.now() + 30_000));
      await page.getByRole('button', { name: 'Log in', exact: true }).click();
      await waitForHeading(page, 'Overview');
    }
    await page.goto('/account');
    await logOut(page);
    await waitForHeading(page, 'Log in');

    await logIn(page, user);
    await page.getByText('I can’t use my authenticator app').click();
    await page.getByLabel('Recovery code').fill(codes[3]?.toLowerCase() ?? '');
    await page.getByRole('button', { name: 'Log in with a recovery code' }).click();
    await waitForHeading(page, 'Overview');
    await page.goto('/account');

    await page.getByRole('link', { name: 'Manage two-factor authentication' }).click();
    await waitForHeading(page, 'Two-factor authentication');
    await page.getByLabel('Your password').last().fill(user.password);
    await page.getByRole('button', { name: 'Turn off two-factor authentication' }).click();
    await page.getByText('Two-factor authentication is off').waitFor();
  });

  it('a user who forgot the password sets a new one by email', async () => {
    const user = await addUser(service);
    const page = await open();
    await page.goto('/login');
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await waitForHeading(page, 'Reset your password');
    await page.getByLabel('Email address').fill(user.email);
    await page.getByRole('button', { name: 'Send link' }).click();
    await waitForHeading(page, 'Check your email');
    const mail = await mailTo(service, user.email, 'Set a new password');
    tokenIn(mail);
    await page.goto(/http:\S+/.exec(mail)?.[0] ?? '');
    await page.getByLabel('New password').fill(NEW_PASSWORD);
    await page.getByRole('button', { name: 'Set password' }).click();
    await waitForHeading(page, 'Your password is set');
    await page.getByRole('link', { name: 'Log in' }).click();
    await waitForHeading(page, 'Log in');
    await logIn(page, { email: user.email, password: NEW_PASSWORD });
    await waitForHeading(page, 'Overview');
    await page.goto('/account');
  });

  it('a user can do everything by keyboard and sees the focus', async () => {
    const user = await addUser(service);
    const page = await open();
    await page.goto('/account');
    await waitForFocus(page.getByLabel('Email address'));
    expect(await focused(page)).toMatchObject({ name: 'Email address', isVisible: true });
    await page.keyboard.type(user.email);
    await page.keyboard.press('Enter');
    await waitForFocus(page.getByLabel('Password'));
    expect(await focused(page)).toMatchObject({ name: 'Password', isVisible: true });
    await page.keyboard.type(user.password);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/account');

    const link = 'Set up two-factor authentication';
    expect(await tabTo(page, link)).toEqual([
      'Skip to the content',
      '',
      'Development',
      'Production',
      'Account menu',
      'Overview',
      'Request logs',
      'Events',
      'Customers',
      'Agents',
      'Webhook endpoints',
      'API credentials',
      'Merchants',
      'Users',
      'Allowed domains',
      'Single sign-on',
      'Audit log',
      'Settings',
      'Change password',
      link,
    ]);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/account/second-factor');
    await tabTo(page, 'Set up two-factor authentication');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/setup');
    const secret = (await page.locator('code.secret').textContent()) ?? '';
    rememberSecret(secret);
    await tabTo(page, 'Code');
    await page.keyboard.type(totpCode(secret));
    await tabTo(page, 'Turn on two-factor authentication');
    await page.keyboard.press('Space');
    const codes = await recoveryCodesOn(page);
    const [code = ''] = codes;

    await page.goto('/account');
    await tabTo(page, 'Account menu');
    await page.keyboard.press('Enter');
    await tabTo(page, 'Log out');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/login');
    await waitForFocus(page.getByLabel('Email address'));
    await page.keyboard.type(user.email);
    await tabTo(page, 'Continue');
    await page.keyboard.press('Enter');
    await waitForFocus(page.getByLabel('Password'));
    await page.keyboard.type(user.password);
    await tabTo(page, 'Log in');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/login/second-factor');
    await waitForFocus(page.getByLabel('Code', { exact: true }));
    expect(await tabTo(page, 'I can’t use my authenticator app')).toEqual([
      'Log in',
      'I can’t use my authenticator app',
    ]);
    await page.keyboard.press('Enter');
    await tabTo(page, 'Recovery code');
    await page.keyboard.type(code);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/dashboard/development');
  });

  describe('a passkey', () => {
    /** Gives the window an authenticator that verifies the user. Passkeys require a name in place of an IP address. */
    async function openWithAuthenticator(user: TestUser): Promise<{
      page: Page;
      devtools: CDPSession;
      authenticatorId: string;
    }> {
      const login = await openSession(service, user);
      const page = await windows.open(service.baseUrl.replace('127.0.0.1', 'localhost'), { login });
      const devtools = await page.context().newCDPSession(page);
      await devtools.send('WebAuthn.enable');
      const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
        options: {
          protocol: 'ctap2',
          transport: 'internal',
          hasResidentKey: true,
          hasUserVerification: true,
          isUserVerified: true,
          automaticPresenceSimulation: true,
        },
      });
      return { page, devtools, authenticatorId };
    }

    async function addPasskey(page: Page, name: string): Promise<void> {
      await page.goto('/account');
      await page.getByRole('link', { name: 'Add a passkey' }).click();
      await waitForHeading(page, 'Passkeys');
      await page.getByLabel('Name').fill(name);
      await page.getByRole('button', { name: 'Add a passkey' }).click();
    }

    it('is added, named, offered in the email field, renamed and removed', async () => {
      const user = await addUser(service);
      const { page, devtools, authenticatorId } = await openWithAuthenticator(user);
      await addPasskey(page, 'Laptop');
      await waitForText(page, 'The passkey was added.');
      const { credentials } = await devtools.send('WebAuthn.getCredentials', { authenticatorId });
      expect(credentials).toMatchObject([{ rpId: 'localhost', isResidentCredential: true }]);

      await page.getByLabel('Name').fill('Laptop again');
      await page.getByRole('button', { name: 'Add a passkey' }).click();
      await page.getByText('already has a passkey for your account').waitFor();

      // The virtual authenticator confirms the passkey that the email field offers.
      await logOut(page);
      await waitForHeading(page, 'Overview');
      expect((await auditOf(service, user)).slice(-3)).toEqual([
        'auth.passkey_add success',
        'auth.logout success',
        'auth.login success',
      ]);

      await page.goto('/account/passkeys');
      await page.getByRole('link', { name: 'Laptop' }).click();
      await waitForHeading(page, 'Laptop');
      await page.getByLabel('Name').fill('Old laptop');
      await page.getByRole('button', { name: 'Rename passkey' }).click();
      await page.getByRole('link', { name: 'Old laptop' }).click();
      await page.getByRole('button', { name: 'Remove passkey' }).click();
      await page.getByText('The passkey was removed.').waitFor();
    });

    it('logs in with the button, by keyboard, and to confirm a login again', async () => {
      const user = await addUser(service);
      const { page, devtools, authenticatorId } = await openWithAuthenticator(user);
      await addPasskey(page, 'Laptop');
      await waitForText(page, 'The passkey was added.');
      const offer = (enabled: boolean) =>
        devtools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });
      await offer(false);
      using _clock = moveClock(service, 6 * MINUTE);
      await page.getByRole('link', { name: 'Laptop' }).click();
      await waitForHeading(page, 'Laptop');
      await page.getByRole('button', { name: 'Remove passkey' }).click();
      await waitForHeading(page, 'Log in again');
      expect((await focused(page)).name).toBe('Use a passkey');
      await offer(true);
      const sent: string[] = [];
      page.on('request', (request) => {
        if (request.method() === 'POST') sent.push(new URL(request.url()).pathname);
      });
      await page.keyboard.press('Enter');
      // The form is sent after the login, in which the passkey was used once.
      await waitForText(page, 'The passkey was removed.');
      expect(sent).toEqual([
        '/login/passkey/options',
        '/login/passkey',
        expect.stringMatching(/^\/account\/passkeys\/[\w-]+\/remove$/),
      ]);
    });

    it('is offered with another challenge before the old one expires, and logs in after ten minutes', async () => {
      const user = await addUser(service);
      const { page, devtools, authenticatorId } = await openWithAuthenticator(user);
      await addPasskey(page, 'Laptop');
      await waitForText(page, 'The passkey was added.');
      await devtools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled: false });
      await page.clock.install();
      const requested = () =>
        page.waitForRequest((request) => request.url().endsWith('/login/passkey/options'));
      const first = requested();
      await logOut(page);
      expect((await first).postData()).toContain('mediation=conditional');
      await (await (await first).response())?.finished();
      // The first challenge has expired.
      using _clock = moveClock(service, 11 * MINUTE);
      let isRenewed = false;
      void requested().then(() => (isRenewed = true));
      // The page may not have read the response yet.
      await eventually('the page asks for another challenge', async () => {
        await page.clock.fastForward('09:30');
        return isRenewed;
      });
      // The virtual authenticator confirms requests that begin from now on.
      await devtools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled: true });
      await eventually('the user is logged in', async () => {
        await page.clock.fastForward('09:30');
        return page.getByRole('heading', { level: 1, name: 'Overview' }).isVisible();
      });
    });

    it('is refused if the device does not verify the user, and after it was removed', async () => {
      const user = await addUser(service);
      const { page, devtools, authenticatorId } = await openWithAuthenticator(user);
      await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
      await addPasskey(page, 'Laptop');
      await page.getByText('The browser did not use a passkey').waitFor();
      await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
      await page.getByRole('button', { name: 'Add a passkey' }).click();
      await waitForText(page, 'The passkey was added.');
      await service.database.query('DELETE FROM passkey WHERE user_id = $1', [user.id]);
      await logOut(page);
      await page.getByText('The passkey was not accepted.').waitFor();
    });

    it('needs JavaScript, and the pages say so', async () => {
      const page = await open({ javaScript: false });
      await page.goto('/login');
      expect(await page.locator('noscript').innerHTML()).toContain('Passkeys require JavaScript');
      await page.getByRole('button', { name: 'Use a passkey' }).click();
      expect(await page.getByRole('alert').textContent()).toContain('Passkeys require JavaScript');
      await logIn(page, await addUser(service));
      await waitForHeading(page, 'Overview');
      await addPasskey(page, 'Laptop');
      expect(await page.getByRole('alert').textContent()).toContain('Passkeys require JavaScript');
    });

    it('does not work at an IP address, and the pages lead to the address where it works', async () => {
      const page = await open();
      const expectLink = async (purpose: string): Promise<void> => {
        const status = page.getByRole('status').filter({ hasText: 'Passkeys do not work at this address.' });
        expect(await status.textContent()).toContain(purpose);
        const there = page.url().replace('127.0.0.1', 'localhost');
        expect(await status.getByRole('link').getAttribute('href')).toBe(there);
      };
      await page.goto('/login');
      await expectLink('to use a passkey.');
      expect(await page.getByRole('button', { name: 'Use a passkey' }).isDisabled()).toBe(true);
      await logIn(page, await addUser(service));
      await waitForHeading(page, 'Overview');
      await page.goto('/account/passkeys');
      await expectLink('to add a passkey.');
      expect(await page.getByRole('button', { name: 'Add a passkey' }).isDisabled()).toBe(true);
    });

    it('has accessible pages', async () => {
      const user = await addUser(service);
      const page = await open({ bypassPolicy: true, login: await openSession(service, user) });
      await page.goto('/account/passkeys');
      expect(await inspect(page, 'passkeys-none')).toEqual([]);
      await addPasskeys(user, 20);
      await page.goto('/account/passkeys?done=added');
      expect(await inspect(page, 'passkeys')).toEqual([]);
      await page.locator('.sessions a').first().click();
      await waitForHeading(page, 'Laptop'.repeat(10));
      expect(await inspect(page, 'passkey')).toEqual([]);
      await page.goto('/account');
      expect(await inspect(page, 'account-with-passkeys')).toEqual([]);
      await service.database.query(
        `UPDATE organization SET second_factor_required_from = now() - interval '1 day' WHERE id = $1`,
        [service.organizationId],
      );
      await page.goto('/account/second-factor');
      await waitForHeading(page, 'Log in with your passkey');
      expect(await inspect(page, 'passkey-required')).toEqual([]);
      await service.database.query('UPDATE organization SET second_factor_required_from = NULL');
    });

    const addPasskeys = ({ id }: TestUser, count: number) =>
      service.database.query(
        `INSERT INTO passkey (id, user_id, credential_id, public_key, counter, name, created_at)
         SELECT gen_random_uuid(), $1, uuid_send(gen_random_uuid()), '', 0, repeat('Laptop', 10), now()
           FROM generate_series(1, $2)`,
        [id, count],
      );
  });

  describe('pages are accessible', () => {
    let page: Page;
    beforeAll(async () => {
      page = await open({ bypassPolicy: true });
    });
    const inspected = async (name: string) => expect(await inspect(page, name)).toEqual([]);

    it('before the login', async () => {
      await page.goto('/login');
      await inspected('login');
      await logIn(page, { email: 'nobody@example.com', password: 'wrong password' });
      await waitForText(page, 'The email address or password is wrong.');
      await inspected('login-rejected');
      await page.goto('/password-reset');
      await inspected('password-reset');
      await page.getByLabel('Email address').fill('nobody@example.com');
      await page.getByRole('button').click();
      await waitForHeading(page, 'Check your email');
      await inspected('password-reset-requested');
      await page.goto('/password-reset/confirm?token=none');
      await inspected('password-reset-invalid');
      await page.goto('/password-reset/done');
      await inspected('password-reset-done');

      const user = await addUser(service);
      await page.goto('/password-reset');
      await page.getByLabel('Email address').fill(user.email);
      await page.getByRole('button').click();
      await waitForHeading(page, 'Check your email');
      const token = tokenIn(await mailTo(service, user.email, 'Set a new password'));
      await page.goto(`/password-reset/confirm?token=${token}`);
      await inspected('password-reset-confirm');
      await page.evaluate(`document.querySelector('form').noValidate = true`);
      await page.getByLabel('New password').fill('short');
      await page.getByRole('button').click();
      await waitForText(page, /^Choose a password of /);
      await inspected('password-reset-too-short');
    });

    it('in the second step of the login', async () => {
      const user = await protectedUser();
      await logIn(page, user);
      await waitForHeading(page, 'Enter your code');
      await inspected('second-factor');
      await page.getByLabel('Code', { exact: true }).fill('000000');
      await page.getByRole('button', { name: 'Log in', exact: true }).click();
      await waitForText(page, 'This code is wrong');
      await inspected('second-factor-wrong');
      await page.getByText('I can’t use my authenticator app').click();
      await page.getByLabel('Recovery code').fill('wrong');
      await page.getByRole('button', { name: 'Log in with a recovery code' }).click();
      await waitForText(page, 'This recovery code is wrong');
      await expectEmptyWithFocus(page.getByLabel('Recovery code'));
      await inspected('second-factor-recovery-wrong');
    });

    it('after the login', async () => {
      const user = await addUser(service);
      await openSession(service, user);
      await useLogin(page.context(), service.baseUrl, await openSession(service, user));
      await page.goto('/account');
      await inspected('account');
      await page.goto('/account/password');
      await inspected('password');
      await page.getByLabel('Current password').fill('wrong password');
      await page.getByLabel('New password').fill(NEW_PASSWORD);
      await page.getByRole('button', { name: 'Change password' }).click();
      await waitForText(page, 'This isn’t your current password.');
      await inspected('password-rejected');
      await page.goto('/account/password/changed');
      await inspected('password-changed');
      await page.goto('/account/second-factor');
      await inspected('second-factor-off');
      await page.getByRole('button', { name: 'Set up two-factor authentication' }).click();
      await waitForHeading(page, 'Set up two-factor authentication');
      await inspected('second-factor-setup');
      const secret = (await page.locator('code.secret').textContent()) ?? '';
      rememberSecret(secret);
      await page.getByLabel('Code', { exact: true }).fill('000000');
      await page.getByRole('button', { name: 'Turn on' }).click();
      await waitForText(page, 'This code is wrong');
      await expectEmptyWithFocus(page.getByLabel('Code', { exact: true }));
      await inspected('second-factor-setup-wrong');
      await page.getByLabel('Code', { exact: true }).fill(totpCode(secret));
      await page.getByRole('button', { name: 'Turn on' }).click();
      await recoveryCodesOn(page);
      await inspected('recovery-codes');
      await page.goto('/account/second-factor');
      await inspected('second-factor-on');
      await page.getByLabel('Your password').first().fill('wrong password');
      await page.getByRole('button', { name: 'Create new recovery codes' }).click();
      await waitForText(page, 'This isn’t your password.');
      await inspected('second-factor-rejected');
      await page.context().clearCookies({ name: 'browser' });
      await logOut(page);
      await waitForText(page, 'Your browser sent no cookies');
      await inspected('error');
    });
  });
});
