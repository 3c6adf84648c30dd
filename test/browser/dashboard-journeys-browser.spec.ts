import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import {
  describeInBrowser,
  focused,
  inspect,
  logIn,
  logOut,
  savePicture,
  waitForHeading,
  waitForText,
  type WindowOptions,
} from '../support/pages/browser.js';
import { SECOND } from '../../src/infrastructure/time/index.js';
import { addUser, openSession, type TestUser } from '../support/pages/dashboard-users.js';
import { eventually } from '../support/eventually.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import { Visitor } from '../support/pages/visitor.js';
import { fillRequestLog, loggedRequest, requestIsLogged } from '../support/logs/request-log-entries.js';
import { CREATE_SESSION } from '../support/documents/operations.js';
import { useTestApp } from '../support/test-app.js';
import { totpCode } from '../support/logins/totp.js';

const NEW_ENDPOINT = '/dashboard/development/webhook-endpoints/new';
const INVITE = '/dashboard/users/invitations/new';

const service = useTestApp();

/** @returns a code that the user has not used yet */
async function setUpSecondFactor({ email, password }: TestUser): Promise<string> {
  const visitor = new Visitor(service);
  const setup = '/account/second-factor/setup';
  await visitor.logIn(email, password);
  await visitor.get('/account/second-factor');
  await visitor.submit(setup);
  const [, shown = ''] = /<code class="secret">([A-Z2-7 ]+)</.exec((await visitor.get(setup)).text) ?? [];
  const secret = shown.replaceAll(' ', '');
  rememberSecret(shown, secret);
  const { status } = await visitor.submit('/account/second-factor/enable', { code: totpCode(secret) });
  expect(status).toBe(200);
  return totpCode(secret, Date.now() + 30 * SECOND);
}

const invitation = () => ({ email: `${randomUUID()}@example.com`, name: 'Grace Hopper', role: 'viewer' });

describeInBrowser('The dashboard in a browser', (windows) => {
  // Tests break connections, which the browser reports.
  windows.allowsFindings = true;

  const open = async (path: string) => {
    const page = await windows.open(service.baseUrl, { bypassPolicy: true, login: await service.login() });
    await page.goto(path);
    return page;
  };

  it('says when live updates lost the connection, and when they have it again', async () => {
    const page = await open('/dashboard/development/request-logs?live=on');
    await page.route('**/request-logs**', (route) => route.abort());
    await page.getByText('The connection was lost. Retrying…').waitFor();
    expect(await inspect(page, 'live-lost')).toEqual([]);
    await page.unroute('**/request-logs**');
    await page.getByText('The connection was lost. Retrying…').waitFor({ state: 'detached' });
  });

  describe('a form that requires a login', () => {
    const openForm = async (options?: WindowOptions) => {
      const user = await addUser(service);
      const login = await openSession(service, user);
      const page = await windows.open(service.baseUrl, { bypassPolicy: true, login, ...options });
      const addresses: string[] = [];
      page.on('request', (request) => addresses.push(request.url()));
      await page.goto(INVITE);
      const typed = invitation();
      await page.getByLabel('Email address').fill(typed.email);
      await page.getByLabel('Name', { exact: true }).fill(typed.name);
      await page.getByLabel('Role').selectOption('member');
      return { page, user, typed, addresses };
    };
    const invitationsTo = async (email: string): Promise<number> =>
      (await service.database.query('SELECT FROM dashboard_user WHERE email = $1', [email])).length;
    const send = (page: Page) => page.getByRole('button', { name: 'Send invitation' }).click();
    // By role, because a dialog that was closed stays in the page, hidden, for a moment.
    const fieldsOf = async (page: Page) => ({
      email: await page.getByRole('textbox', { name: 'Email address' }).inputValue(),
      name: await page.getByLabel('Name', { exact: true }).inputValue(),
      role: await page.getByLabel('Role').inputValue(),
    });
    const endRecentLogin = ({ id }: { id: string }) =>
      service.database.query(
        `UPDATE dashboard_session SET authenticated_at = now() - interval '10 minutes' WHERE user_id = $1`,
        [id],
      );

    it('asks for a recent login in a dialog over the form, and is then sent', async () => {
      const { page, user, typed, addresses } = await openForm();
      await endRecentLogin(user);
      await send(page);
      const dialog = page.getByRole('dialog', { name: 'Log in again' });
      await dialog.getByLabel('Password').fill('wrong');
      expect(await inspect(page, 'login-dialog')).toEqual([]);
      await dialog.getByRole('button', { name: 'Log in' }).click();
      await dialog.getByText('The email address or password is wrong.').waitFor();
      expect((await focused(page)).name).toBe('Password');
      expect(await inspect(page, 'login-dialog-refused')).toEqual([]);
      await dialog.getByLabel('Password').fill(user.password);
      await page.keyboard.press('Enter');
      await page.waitForURL(/done=invited/);
      expect(await invitationsTo(typed.email)).toBe(1);
      expect(addresses.filter((address) => address.includes(typed.email.split('@')[0] ?? ''))).toEqual([]);
    });

    it('keeps its input if the user cancels the login, and is sent after a login in another tab', async () => {
      const { page, user, typed } = await openForm();
      await endRecentLogin(user);
      await send(page);
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(await fieldsOf(page)).toEqual({ ...typed, role: 'member' });
      expect((await focused(page)).name).toBe('Send invitation');
      await send(page);
      await dialog.waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      const tab = await page.context().newPage();
      await tab.goto('/login?again=form');
      await tab.getByLabel('Password').fill(user.password);
      await tab.getByRole('button', { name: 'Log in' }).click();
      await waitForHeading(tab, 'Overview');
      await send(page);
      await page.waitForURL(/done=invited/);
    });

    it('asks for the second factor in the dialog', async () => {
      const { page, user } = await openForm();
      const code = await setUpSecondFactor(user);
      await endRecentLogin(user);
      await send(page);
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Password').fill(user.password);
      await dialog.getByRole('button', { name: 'Log in' }).click();
      await dialog.getByLabel('Code', { exact: true }).fill(code);
      await dialog.getByRole('button', { name: 'Log in', exact: true }).click();
      await page.waitForURL(/done=invited/);
    });

    it('is sent after a logout in another tab, and a login in the dialog', async () => {
      const { page, user } = await openForm();
      const tab = await page.context().newPage();
      await tab.goto('/account');
      await logOut(tab);
      await tab.waitForURL(/login/);
      await send(page);
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Email address').fill(user.email);
      await dialog.getByRole('button', { name: 'Continue' }).click();
      await dialog.getByLabel('Password').fill(user.password);
      await dialog.getByRole('button', { name: 'Log in' }).click();
      await page.waitForURL(/done=invited/);
    });

    it('is not sent by another user, who does not see its input', async () => {
      const { page, user, typed } = await openForm();
      const other = await addUser(service);
      await service.database.query('DELETE FROM dashboard_session WHERE user_id = $1', [user.id]);
      await send(page);
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Email address').fill(other.email);
      await dialog.getByRole('button', { name: 'Continue' }).click();
      await dialog.getByLabel('Password').fill(other.password);
      await dialog.getByRole('button', { name: 'Log in' }).click();
      await waitForHeading(page, 'Overview');
      expect(await invitationsTo(typed.email)).toBe(0);
    });

    /** Sends a form that requires no recent login, after the login has ended. */
    const sendWithoutLogin = async () => {
      const { page, user } = await openForm();
      await page.goto(NEW_ENDPOINT);
      await page.getByLabel('URL').fill('https://hooks.example.com/kept');
      await service.database.query('DELETE FROM dashboard_session WHERE user_id = $1', [user.id]);
      await page.getByRole('button', { name: 'Create endpoint' }).click();
      await page.getByText('After you log in, the form has what you entered.').waitFor();
      const logInAs = async ({ email, password }: TestUser): Promise<void> => {
        await page.getByLabel('Email address').fill(email);
        await page.getByRole('button', { name: 'Continue' }).click();
        await page.getByLabel('Password').fill(password);
        await page.getByRole('button', { name: 'Log in' }).click();
      };
      return { page, user, logInAs };
    };

    it('keeps its input on the way to the login, if it requires no recent one', async () => {
      const { page, user, logInAs } = await sendWithoutLogin();
      await logInAs(user);
      await page.getByText('The form has what you entered before you logged in.').waitFor();
      expect(await page.getByLabel('URL').inputValue()).toBe('https://hooks.example.com/kept');
      expect(await inspect(page, 'kept-form')).toEqual([]);
    });

    it('does not show its input to another user', async () => {
      const { page, logInAs } = await sendWithoutLogin();
      await logInAs(await addUser(service));
      await waitForHeading(page, 'Create an endpoint for development');
      expect(await page.getByLabel('URL').inputValue()).toBe('');
    });

    it('forgets its input after a logout', async () => {
      const { page, user } = await sendWithoutLogin();
      await logIn(page, user);
      await waitForHeading(page, 'Overview');
      await logOut(page);
      await page.waitForURL(/login/);
      await logIn(page, user);
      await waitForHeading(page, 'Overview');
      await page.goto(NEW_ENDPOINT);
      expect(await page.getByLabel('URL').inputValue()).toBe('');
    });

    it('does not fill in other forms with the same address', async () => {
      const { page, user } = await openForm();
      for (let logins = 0; logins < 2; logins += 1) await openSession(service, user);
      await page.goto('/account');
      const end = page.locator('form[action="/account/sessions/end"]');
      await service.database.query(
        `DELETE FROM dashboard_session WHERE id = (
           SELECT id FROM dashboard_session WHERE user_id = $1 ORDER BY expires_at LIMIT 1)`,
        [user.id],
      );
      await end.last().getByRole('button').click();
      await page.getByText('After you log in, the form has what you entered.').waitFor();
      await page.getByLabel('Email address').fill(user.email);
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByLabel('Password').fill(user.password);
      await page.getByRole('button', { name: 'Log in' }).click();
      await waitForHeading(page, 'Your account');
      const sessions = await end.locator('input:not([name$=_token])').all();
      const ids = await Promise.all(sessions.map((field) => field.inputValue()));
      expect(new Set(ids).size).toBe(2);
    });

    it.each([false, true])(
      'continues without JavaScript after a login, with a second factor: %s',
      async (hasCode) => {
        const { page, user, typed } = await openForm({ javaScript: false });
        const code = hasCode ? await setUpSecondFactor(user) : '';
        await endRecentLogin(user);
        await send(page);
        await page.getByText('Nothing was changed yet: your login was too long ago for this.').waitFor();
        await page.reload();
        await savePicture(page, 'login-again-without-script');
        await page.getByLabel('Password').fill('wrong');
        await page.getByRole('button', { name: 'Log in', exact: true }).click();
        await waitForText(page, 'The email address or password is wrong.');
        await page.getByLabel('Password').fill(user.password);
        await page.getByRole('button', { name: 'Log in', exact: true }).click();
        if (hasCode) {
          await page.getByLabel('Code', { exact: true }).fill(code);
          await page.getByRole('button', { name: 'Log in', exact: true }).click();
        }
        await page.getByText(`email: ${typed.email}`).waitFor();
        await savePicture(page, 'login-continue');
        await page.getByRole('button', { name: 'Continue' }).click();
        await page.waitForURL(/done=invited/);
        expect(await invitationsTo(typed.email)).toBe(1);
      },
    );

    it('shows that it is being sent, and is sent once', async () => {
      const { page, typed } = await openForm();
      let requests = 0;
      let release = (): void => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      await page.route(`**${INVITE}`, async (route) => {
        requests += 1;
        await held;
        await route.continue();
      });
      // Nothing can be evaluated while the form is being sent.
      await page.evaluate(() =>
        new MutationObserver((changes) => {
          for (const { target } of changes)
            if (target instanceof Element && target.getAttribute('aria-busy') === 'true')
              sessionStorage.setItem('busy', target.textContent ?? '');
        }).observe(document, { subtree: true, attributeFilter: ['aria-busy'] }),
      );
      const button = page.getByRole('button', { name: 'Send invitation' });
      const { x, y } = (await button.boundingBox()) ?? { x: 0, y: 0 };
      await page.mouse.click(x + 5, y + 5);
      await eventually('the form is being sent', () => requests > 0);
      await page.mouse.click(x + 5, y + 5);
      release();
      await page.waitForURL(/done=invited/);
      expect(await page.evaluate(() => sessionStorage.getItem('busy'))).toBe('Send invitation');
      expect([requests, await invitationsTo(typed.email)]).toEqual([1, 1]);
    });
  });

  it('opens the search with a key, and finds a page by keyboard', async () => {
    const created = await service.request(CREATE_SESSION.path, {
      body: { ...CREATE_SESSION.body, external_user_id: 'user-9' },
      as: service.development,
    });
    await requestIsLogged(service, created);
    const page = await open('/dashboard/development/events');
    await page.keyboard.press('/');
    await page.keyboard.type('credentials');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/search\?q=credentials$/);
    await page.getByRole('main').getByRole('link', { name: 'API credentials' }).waitFor();
    expect(await inspect(page, 'search')).toEqual([]);
    await page.keyboard.press('/');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('user-9');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/search\?q=user-9$/);
    await page.getByRole('link', { name: 'user-9' }).click();
    await waitForHeading(page, 'user-9');
    expect(await inspect(page, 'external-user')).toEqual([]);
    await page.locator('body').click();
    await page.keyboard.press('Control+k');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('q');
  });

  it('lets relative times advance', async () => {
    await fillRequestLog(service, [
      loggedRequest(
        { clientId: service.development.clientId, environment: 'development' },
        { createdAt: new Date(Date.now() - 61_000), path: '/a-minute-ago' },
      ),
    ]);
    const page = await windows.open(service.baseUrl, { bypassPolicy: true, login: await service.login() });
    await page.clock.install();
    await page.goto('/dashboard/development/request-logs');
    await page.getByTitle('1 minute ago').first().waitFor();
    await page.clock.fastForward(5 * 60_000);
    await page.getByTitle('6 minutes ago').first().waitFor();
  });
});
