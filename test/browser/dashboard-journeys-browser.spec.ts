import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import {
  describeInBrowser,
  inspect,
  logIn,
  logOut,
  waitForHeading,
  type WindowOptions,
} from '../support/browser.js';
import { addUser, openSession } from '../support/dashboard-users.js';
import { fillRequestLog, loggedRequest } from '../support/request-log-entries.js';
import { CREATE_SESSION } from '../support/operations.js';
import { useTestApp } from '../support/test-app.js';

const INVITE = '/dashboard/users/invitations/new';

const service = useTestApp();

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
    const send = (page: Page) => page.getByRole('button', { name: 'Send invitation' }).click();
    const fieldsOf = async (page: Page) => ({
      email: await page.getByLabel('Email address').inputValue(),
      name: await page.getByLabel('Name', { exact: true }).inputValue(),
      role: await page.getByLabel('Role').inputValue(),
    });
    const endRecentLogin = ({ id }: { id: string }) =>
      service.database.query(
        `UPDATE dashboard_session SET authenticated_at = now() - interval '10 minutes' WHERE user_id = $1`,
        [id],
      );

    it('keeps its input through a login, if the recent login expired', async () => {
      const { page, user, typed, addresses } = await openForm();
      await endRecentLogin(user);
      await send(page);
      await page.getByText('After you log in, the form has what you entered.').waitFor();
      await page.getByLabel('Password').fill(user.password);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByText('The form has what you entered before you logged in.').waitFor();
      expect(await fieldsOf(page)).toEqual({ ...typed, role: 'member' });
      expect(await inspect(page, 'kept-form')).toEqual([]);
      await send(page);
      await page.waitForURL(/done=invited/);
      expect(addresses.filter((address) => address.includes(typed.email.split('@')[0] ?? ''))).toEqual([]);
      await page.goto(INVITE);
      expect(await fieldsOf(page)).toMatchObject({ email: '', name: '' });
    });

    it('keeps its input after a logout in another tab', async () => {
      const { page, user, typed } = await openForm();
      const tab = await page.context().newPage();
      await tab.goto('/account');
      await logOut(tab);
      await tab.waitForURL(/login/);
      await send(page);
      await page.getByText('After you log in, the form has what you entered.').waitFor();
      await page.getByLabel('Email address').fill(user.email);
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByLabel('Password').fill(user.password);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByText('The form has what you entered before you logged in.').waitFor();
      expect(await fieldsOf(page)).toEqual({ ...typed, role: 'member' });
    });

    it('does not show its input to another user', async () => {
      const { page, user } = await openForm();
      const other = await addUser(service);
      await service.database.query('DELETE FROM dashboard_session WHERE user_id = $1', [user.id]);
      await send(page);
      await page.getByText('After you log in, the form has what you entered.').waitFor();
      await page.getByLabel('Email address').fill(other.email);
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByLabel('Password').fill(other.password);
      await page.getByRole('button', { name: 'Log in' }).click();
      await waitForHeading(page, 'Invite a user');
      expect(await fieldsOf(page)).toMatchObject({ email: '', name: '' });
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
      await end.last().waitFor({ state: 'attached' });
      const sessions = await end.locator('input:not([name$=_token])').all();
      const ids = await Promise.all(sessions.map((field) => field.inputValue()));
      expect(new Set(ids).size).toBe(2);
    });

    it('forgets its input after a logout', async () => {
      const { page, user } = await openForm();
      await endRecentLogin(user);
      await send(page);
      await page.getByText('After you log in, the form has what you entered.').waitFor();
      await page.goto('/account');
      await logOut(page);
      await logIn(page, user);
      await page.waitForURL(/dashboard/);
      await page.goto(INVITE);
      expect(await fieldsOf(page)).toMatchObject({ email: '', name: '' });
    });

    it('stays in its page without JavaScript, also after a reload', async () => {
      const { page, user, typed } = await openForm({ javaScript: false });
      await endRecentLogin(user);
      await send(page);
      await page.getByText('Your login was more than 5 minutes ago').waitFor();
      await page.reload();
      await page.getByText(`email: ${typed.email}`).waitFor();
      const [tab] = await Promise.all([
        page.context().waitForEvent('page'),
        page.getByRole('link', { name: 'Log in in a new tab' }).click(),
      ]);
      await tab.getByLabel('Password').fill(user.password);
      await tab.getByRole('button', { name: 'Log in' }).click();
      await tab.waitForURL(new RegExp(INVITE));
      await page.getByRole('button', { name: 'Send again' }).click();
      await page.getByRole('button', { name: 'Send again' }).click();
      await page.waitForURL(/done=invited/);
    });
  });

  it('opens the search with a key, and finds a page by keyboard', async () => {
    await service.request(CREATE_SESSION.path, {
      body: { ...CREATE_SESSION.body, external_user_id: 'user-9' },
      as: service.development,
    });
    const page = await open('/dashboard/development/events');
    await page.keyboard.press('/');
    await page.keyboard.type('credentials');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'API credentials' }).last().waitFor();
    expect(await inspect(page, 'search')).toEqual([]);
    await page.keyboard.press('/');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('user-9');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'user-9' }).click();
    await waitForHeading(page, 'User user-9');
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
    await page.getByText('1 minute ago').first().waitFor();
    await page.clock.fastForward(5 * 60_000);
    await page.getByText('6 minutes ago').first().waitFor();
  });
});
