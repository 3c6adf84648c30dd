import type { Page } from 'playwright-core';
import {
  describeInBrowser,
  inspect,
  tabTo,
  type WindowOptions,
  waitForHeading,
} from '../support/pages/browser.js';
import { moveClock } from '../support/clock.js';
import { addSamlConfiguration, grantRole, submitFile, submitForm } from '../support/pages/dashboard-forms.js';
import { addInvited, addUser, disable, someAddress } from '../support/pages/dashboard-users.js';
import { accessToken, decide, startFlow } from '../support/logins/device-flow.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import { newAgent, newLink } from '../support/merchants/sign-in-links.js';
import { useTestApp, type Login } from '../support/test-app.js';

/** A blue square of 64 by 64 pixels. */
const IMAGE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAT0lEQVR42u3PQQkAAAgEsGthJJua0wi+hcEKLNXzWgQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQELgs5ikDxsVb+XgAAAABJRU5ErkJggg==',
  'base64',
);

describeInBrowser('The pages of an organization in a browser', (windows) => {
  const service = useTestApp();
  let owner: Login;

  beforeAll(async () => {
    owner = await service.login('owner');
  });
  const open = (login: Login = owner, options: WindowOptions = {}): Promise<Page> =>
    windows.open(service.baseUrl, { ...options, login });

  /** Puts one of each thing that the pages show into the organization. */
  async function fill(): Promise<Record<string, string>> {
    await addInvited(service);
    await disable(service, await addUser(service));
    const colleague = await service.login('member');
    await grantRole(service, owner, colleague);
    await submitForm(service, owner, '/dashboard/production/merchants/1/hide');
    const id = await addSamlConfiguration(service, owner);
    for (const [action, merchant_id] of [
      ['link', 16],
      ['link', 19],
      ['disconnect', 19],
    ] as const) {
      const body = { external_user_id: 'user-1', merchant_id };
      await service.request(`/development/accounts/${action}`, { body, as: service.development });
    }
    const agent = newAgent(service);
    const { id: link } = await newLink(service, agent);
    await service.request(`/sign-in-links/${link}/cancel`, { method: 'POST', as: service.development });
    const { id: pending } = await newLink(service, agent);
    await submitFile(service, owner, '/dashboard/organization/logo/change', { image: IMAGE });
    await accessToken(service, owner, service.production);
    await decide(service, owner, (await startFlow(service)).user_code);
    const rotate = `/dashboard/production/api-credentials/${service.production.clientId}/rotate`;
    const { text } = await submitForm(service, owner, rotate, { overlap_hours: '24' });
    rememberSecret(/mcs_live_[\w-]+/.exec(text)?.[0] ?? '');
    return {
      users: '/dashboard/users',
      user: `/dashboard/users/${colleague.userId}`,
      'user-invite': '/dashboard/users/invitations/new',
      'user-change': `/dashboard/users/${colleague.userId}/change`,
      'user-remove': `/dashboard/users/${colleague.userId}/remove`,
      grants: '/dashboard/access-grants',
      'grant-new': `/dashboard/access-grants/new?email=${colleague.email}`,
      credentials: '/dashboard/development/api-credentials',
      'credentials-rotating': '/dashboard/production/api-credentials',
      'credentials-rotate': `/dashboard/development/api-credentials/${service.development.clientId}/rotate`,
      merchants: '/dashboard/production/merchants?name=am',
      accounts: '/dashboard/development/merchant-accounts?external_user_id=user-1',
      'accounts-lookup': '/dashboard/production/merchant-accounts',
      'accounts-empty': '/dashboard/development/merchant-accounts?external_user_id=user-2',
      'external-user': '/dashboard/development/external-users?external_user_id=user-1',
      links: `/dashboard/development/sign-in-links?external_user_id=${agent.externalUserId}`,
      'links-empty': '/dashboard/development/sign-in-links?external_user_id=user-2',
      'links-cancel': `/dashboard/development/sign-in-links/${pending}/cancel`,
      devices: '/dashboard/devices',
      settings: '/dashboard/organization',
      'settings-logo': '/dashboard/organization/logo/change',
      'settings-second-factor': '/dashboard/organization/second-factor',
      sso: '/dashboard/single-sign-on',
      'sso-configuration': `/dashboard/single-sign-on/${id}`,
      'sso-new': '/dashboard/single-sign-on/configurations/new',
      'login-again': '/login?next=%2Fdashboard%2Fusers&again=page',
    };
  }

  describe('are accessible and fit into narrow windows:', () => {
    let paths: Record<string, string>;
    beforeAll(async () => {
      paths = await fill();
    });

    async function findingsOf(page: Page, names: readonly string[], suffix = ''): Promise<string[]> {
      const findings: string[] = [];
      for (const name of names) {
        await page.goto(paths[name] ?? '');
        expect(await page.locator('h1').textContent()).not.toBe('Something went wrong');
        findings.push(...(await inspect(page, `organization-${name}${suffix}`)));
      }
      return findings;
    }

    it.each([
      ['users', 'user', 'user-invite', 'user-change', 'user-remove', 'login-again'],
      ['grants', 'grant-new', 'merchants', 'devices'],
      ['accounts', 'accounts-lookup', 'accounts-empty', 'external-user'],
      ['links', 'links-empty', 'links-cancel'],
      ['credentials', 'credentials-rotating', 'credentials-rotate'],
      ['settings', 'settings-logo', 'settings-second-factor', 'sso', 'sso-configuration', 'sso-new'],
    ])('%s, %s, %s and more', async (...names) => {
      expect(await findingsOf(await open(owner, { bypassPolicy: true }), names)).toEqual([]);
    });

    it('empty lists', async () => {
      const { id } = await service.anotherOrganization();
      const page = await open(await service.login('owner', id), { bypassPolicy: true });
      expect(await findingsOf(page, ['grants', 'devices', 'settings', 'sso'], '-empty')).toEqual([]);
    });
  });

  it('an admin rotates the production secret on a phone', async () => {
    const { id } = await service.anotherOrganization();
    const page = await open(await service.login('admin', id), { size: { width: 390, height: 844 } });
    await page.goto('/dashboard/production');
    await page.getByText('Menu', { exact: true }).click();
    await page.getByRole('link', { name: 'API credentials' }).click();
    await page.getByRole('link', { name: 'Rotate secret' }).click();
    await page.getByLabel('Overlap').selectOption('2 days');
    await page.getByRole('button', { name: 'Rotate secret' }).click();
    await waitForHeading(page, 'The new production secret');
    const secret = (await page.getByRole('region', { name: 'Secret' }).textContent()) ?? '';
    rememberSecret(secret);
    expect(secret).toMatch(/^mcs_live_/);
    expect(page.url()).not.toContain(secret);
    await page.getByRole('link', { name: 'Activate new secret' }).click();
    await page.getByRole('button', { name: 'Activate new secret' }).click();
    await page.getByRole('status').getByText('webhooks are signed with the new secret').waitFor();
    await page.waitForLoadState();
    expect(await page.getByText('Do this now').count()).toBe(1);
    await page.getByRole('link', { name: 'View new secret' }).click();
    await page.getByRole('button', { name: 'View secret' }).click();
    expect(await page.getByRole('region', { name: 'Secret' }).textContent()).toBe(secret);
  });

  it('an owner invites a user by keyboard after logging in again', async () => {
    const colleague = someAddress();
    const login = await service.login('owner');
    const page = await open(login);
    {
      using _clock = moveClock(service, 6 * 60_000);
      await page.goto('/dashboard/users');
      await tabTo(page, 'Skip to the content');
      await page.keyboard.press('Enter');
      await tabTo(page, 'Invite user');
      await page.keyboard.press('Enter');
      await page.waitForURL(/invitations\/new$/);
      await page.getByLabel('Email address').focus();
      await page.keyboard.type(colleague);
      await tabTo(page, 'Name');
      await page.keyboard.type('Grace');
      await tabTo(page, 'Role');
      await page.keyboard.type('Ad');
      await tabTo(page, 'Send invitation');
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: 'Log in again' }).waitFor();
      await tabTo(page, 'Password');
      await page.keyboard.type(login.password);
      await page.keyboard.press('Enter');
      await page.waitForURL(/done=invited/);
    }
    await waitForHeading(page, 'Grace');
    expect(await page.getByText('Admin: ').count()).toBe(1);
  });

  it('an owner finds an error at its field, which has the focus', async () => {
    const page = await open();
    const { email } = await addUser(service);
    await page.goto('/dashboard/users/invitations/new');
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel('Name').fill('Grace');
    await page.getByRole('button', { name: 'Send invitation' }).click();
    const message = page.getByText(`${email} is already a user of your organization.`);
    await message.waitFor();
    const focused = page.locator(':focus');
    expect(await focused.getAttribute('name')).toBe('email');
    expect(await focused.getAttribute('aria-describedby')).toContain(await message.getAttribute('id'));
    // A link leads to the user, and the next field is not far away.
    await page.keyboard.press('Tab');
    expect(await focused.textContent()).toBe('Ada');
    await page.keyboard.press('Tab');
    expect(await focused.getAttribute('name')).toBe('name');
  });

  it('an admin hides a merchant and adds a logo without JavaScript', async () => {
    const { id } = await service.anotherOrganization();
    const page = await open(await service.login('admin', id), { javaScript: false });
    await page.goto('/dashboard/development/merchants');
    await page.getByLabel('Name').fill('netflix');
    await page.getByRole('button', { name: 'Apply filters' }).click();
    await page.waitForURL(/name=netflix/);
    await page.getByRole('button', { name: 'Hide Netflix' }).click();
    await page.getByRole('button', { name: 'Show Netflix' }).waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('netflix');

    await page.goto('/dashboard/organization/logo/change');
    await page.getByLabel('Image').setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: IMAGE });
    await page.getByRole('button', { name: 'Upload logo' }).click();
    await waitForHeading(page, 'Settings');
    expect(await page.getByRole('img', { name: /^Logo of/ }).boundingBox()).toMatchObject({ width: 82 });
  });

  it('filters replace only the list', async () => {
    const page = await open();
    await page.goto('/dashboard/users');
    await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }));
    await page.getByLabel('Name or email').fill(owner.email);
    await page.getByText(/^1 of \d+ users$/).waitFor();
    expect(await page.evaluate('isSamePage')).toBe(true);
    expect(page.url()).toContain('search=');
  });
});
