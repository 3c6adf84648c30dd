import type { Page } from 'playwright-core';
import {
  describeInBrowser,
  focused,
  inspect,
  tabTo,
  waitForText,
  type WindowOptions,
} from '../support/pages/browser.js';
import { fillRequestLog, loggedRequest } from '../support/logs/request-log-entries.js';
import { useTestApp, type Login } from '../support/test-app.js';

const LOGS = '/dashboard/production/request-logs';

describeInBrowser('Saved filters', (windows) => {
  const service = useTestApp();

  beforeAll(async () => {
    const client = { clientId: service.production.clientId, environment: 'production' } as const;
    await fillRequestLog(service, [
      loggedRequest(client, { createdAt: new Date(), statusCode: 500, path: '/failed' }),
      loggedRequest(client, { createdAt: new Date(), path: '/succeeded' }),
    ]);
  });
  async function openAs(login: Login, options: WindowOptions = {}): Promise<Page> {
    const page = await windows.open(service.baseUrl, { ...options, login });
    await page.goto(LOGS);
    return page;
  }

  const menuOf = (page: Page) => page.locator('details.saved');
  const pathsOn = (page: Page): Promise<string[]> => page.locator('tbody tr a').allTextContents();

  it('are named, found on another device, and deleted', async () => {
    const login = await service.login('viewer');
    const desk = await openAs(login, { bypassPolicy: true });
    // The filter applies without a reload; what is saved is the filter that applies now.
    await desk.getByLabel('Outcome').selectOption('Failed');
    await desk.waitForURL(/outcome=failure/);
    await menuOf(desk).locator('summary').click();
    await desk.getByLabel('Save the current filters as').fill('Failed requests of June');
    expect(await inspect(desk, 'saved-filters-empty')).toEqual([]);
    await desk.getByRole('button', { name: 'Save', exact: true }).click();
    await waitForText(desk, 'The filters were saved.');
    expect(await desk.getByLabel('Outcome').inputValue()).toBe('failure');
    await desk.reload();
    expect(await desk.getByText('The filters were saved.').count()).toBe(0);

    const phone = await openAs(login, { size: { width: 390, height: 844 }, bypassPolicy: true });
    expect(await pathsOn(phone)).toHaveLength(2);
    await menuOf(phone).locator('summary').click();
    expect(await inspect(phone, 'saved-filters')).toEqual([]);
    await phone.getByRole('link', { name: 'Failed requests of June', exact: true }).click();
    await phone.waitForURL(/outcome=failure/);
    expect(await pathsOn(phone)).toEqual([expect.stringContaining('/failed')]);

    await menuOf(phone).locator('summary').click();
    await phone.getByRole('button', { name: 'Delete saved filters' }).click();
    await phone.getByLabel('Failed requests of June').check();
    expect(await inspect(phone, 'saved-filters-delete')).toEqual([]);
    await phone.getByRole('button', { name: 'Delete selected' }).click();
    await waitForText(phone, 'The saved filters were deleted.');
    expect(phone.url()).toContain('outcome=failure');
    await menuOf(phone).locator('summary').click();
    expect(await phone.getByRole('link', { name: 'Failed requests of June' }).count()).toBe(0);
  });

  it('need no JavaScript, and explain what is wrong', async () => {
    const login = await service.login('viewer');
    const page = await openAs(login, { javaScript: false });
    await page.getByLabel('Outcome').selectOption('Failed');
    await page.getByRole('button', { name: 'Apply filters' }).click();
    await page.waitForURL(/outcome=failure/);
    await menuOf(page).locator('summary').click();
    await page.getByLabel('Save the current filters as').fill(' ');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('The “Save the current filters as” field is required.').waitFor();
    await page.getByLabel('Save the current filters as').fill('Failures');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await waitForText(page, 'The filters were saved.');
    expect(await pathsOn(page)).toEqual([expect.stringContaining('/failed')]);
    await page.goto(LOGS);
    await menuOf(page).locator('summary').click();
    await page.getByRole('link', { name: 'Failures', exact: true }).click();
    await page.waitForURL(/outcome=failure/);
    expect(await pathsOn(page)).toEqual([expect.stringContaining('/failed')]);
  });

  it('are within reach of the keyboard', async () => {
    const login = await service.login('viewer');
    const page = await openAs(login);
    await page.goto(`${LOGS}?outcome=failure`);
    await page.getByRole('link', { name: 'Clear filters' }).focus();
    await tabTo(page, 'Saved filters');
    await page.keyboard.press('Enter');
    await tabTo(page, 'Save the current filters as');
    await page.keyboard.type('Failures');
    await page.keyboard.press('Enter');
    await waitForText(page, 'The filters were saved.');
    await page.getByRole('link', { name: 'Clear filters' }).focus();
    await tabTo(page, 'Saved filters\u00a0(1)');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toEqual({ name: 'Failures', isVisible: true });
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.search === '?outcome=failure');
  });
});
