import type { Page } from 'playwright-core';
import type { AttributedClient } from '../../src/infrastructure/http/index.js';
import { DAY, HOUR } from '../../src/infrastructure/time/index.js';
import { describeInBrowser, inspect, openAccountMenu, type WindowOptions } from '../support/pages/browser.js';
import { fillRequestLog, loggedRequest } from '../support/logs/request-log-entries.js';
import { useTestApp, type Login } from '../support/test-app.js';
import { Visitor } from '../support/pages/visitor.js';

const LOGS = '/dashboard/production/request-logs';
const OVERVIEW = '/dashboard/production';
/** It has no daylight saving time: always nine and a half hours ahead of UTC. */
const ZONE = 'Australia/Darwin';
const OFFSET = 9.5 * HOUR;

describeInBrowser('Times on pages', (windows) => {
  const service = useTestApp();
  let login: Login;
  const time = new Date(Math.floor((Date.now() - 2 * DAY) / HOUR) * HOUR);

  beforeAll(async () => {
    login = await service.login('owner');
    const production: AttributedClient = {
      clientId: service.production.clientId,
      environment: 'production',
    };
    await fillRequestLog(service, [
      loggedRequest(production, { createdAt: time, path: '/at/the/hour' }),
      loggedRequest(production, { createdAt: new Date(time.getTime() + OFFSET), path: '/later' }),
    ]);
  });
  async function openAs(path: string, options: WindowOptions): Promise<Page> {
    const page = await windows.open(service.baseUrl, { ...options, login });
    await page.goto(path);
    return page;
  }

  /** Waits for a page with times in this zone, which the account menu names before the rest of the page has arrived. */
  async function waitForZone(page: Page, zone: string): Promise<void> {
    await page.getByText(`Times in ${zone}`).waitFor({ state: 'attached' });
    await page.waitForLoadState();
  }

  /** Returns what a clock shows at a time that is so many milliseconds from UTC. */
  const clockAt = (offset: number): string => new Date(time.getTime() + offset).toISOString().slice(0, 16);

  it('are in UTC or in local time, as the user chose, also in the fields of a period', async () => {
    const page = await openAs(`${LOGS}?period=7d`, { timeZone: ZONE, bypassPolicy: true });
    await waitForZone(page, 'UTC');
    const row = page.locator('tbody tr', { hasText: '/at/the/hour' });
    /** Returns the day of the row, and what its clock shows. */
    const timeOf = async (): Promise<string> => {
      const day = await row.evaluate((each) => {
        let before = each.previousElementSibling;
        while (before && !before.matches('.day')) before = before.previousElementSibling;
        return before?.id.replace('day-', '');
      });
      return `${day}T${await row.locator('time').textContent()}`;
    };
    expect(await timeOf()).toBe(`${clockAt(0)}:00`);
    expect(await row.locator('time').getAttribute('title')).toBe('2 days ago');
    expect(await page.locator('th.clock').textContent()).toBe('Time UTC');

    await openAccountMenu(page);

    await page.getByRole('button', { name: 'Use local time' }).click();
    await waitForZone(page, ZONE);
    expect(page.url()).toContain('period=7d');
    expect(await timeOf()).toBe(`${clockAt(OFFSET)}:00`);
    expect(await page.locator('th.clock').textContent()).toBe('Time UTC+09:30');
    expect(await page.getByRole('button', { name: 'Use local time' }).isVisible()).toBe(false);
    expect(await inspect(page, 'request-logs-local-time')).toEqual([]);

    await page.getByText('More filters').click();
    await page.getByLabel('From', { exact: true }).fill(clockAt(OFFSET));
    await page.getByLabel('To', { exact: true }).fill(clockAt(OFFSET));
    await page.keyboard.press('Enter');
    await page.waitForURL(/end=/);
    await page.getByText('/at/the/hour').waitFor();
    expect(await page.locator('tbody tr[id^=entry-]').count()).toBe(1);

    // The same period after another choice, and for another user.
    const address = page.url();
    await openAccountMenu(page);
    await page.getByRole('button', { name: 'Use UTC' }).click();
    await waitForZone(page, 'UTC');
    expect(page.url()).toBe(address);
    expect(await page.getByText('/at/the/hour').count()).toBe(1);
    expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe(clockAt(0));
  });

  it('are the same in charts, whose bars lead to their entries', async () => {
    const page = await openAs(`${OVERVIEW}?period=7d`, { timeZone: ZONE, bypassPolicy: true });
    expect(await page.locator('figure .zone').first().textContent()).toBe('UTC');
    await openAccountMenu(page);
    await page.getByRole('button', { name: 'Use local time' }).click();
    await waitForZone(page, ZONE);
    expect(await page.locator('figure .zone').first().textContent()).toBe(ZONE);
    expect(await page.getByText(`Time (${ZONE})`).count()).toBeGreaterThan(0);
    expect(await inspect(page, 'overview-local-time')).toEqual([]);

    await page.getByText('From and to', { exact: true }).click();
    await page.getByLabel('From', { exact: true }).fill(clockAt(OFFSET));
    await page.getByLabel('To', { exact: true }).fill(clockAt(OFFSET + HOUR));
    await page.keyboard.press('Enter');
    await page.waitForURL(/end=/);
    const bar = page.locator('.figures a').first();
    await bar.waitFor({ state: 'attached' });
    expect(await bar.textContent()).toContain(clockAt(OFFSET).slice(11));
    expect(await page.locator('.figures a').count()).toBe(1);
    await page.goto((await bar.getAttribute('href')) ?? '');
    await page.getByText('/at/the/hour').waitFor();
    expect(await page.locator('tbody tr[id^=entry-]').count()).toBe(1);
    expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe(clockAt(OFFSET));
  });

  it('are in UTC if the browser does not know its time zone', async () => {
    const page = await openAs(LOGS, { bypassPolicy: true });
    await page.addInitScript(() => {
      const { resolvedOptions } = Intl.DateTimeFormat.prototype;
      Intl.DateTimeFormat.prototype.resolvedOptions = function () {
        return { ...resolvedOptions.call(this), timeZone: 'Etc/Unknown' };
      };
    });
    await page.reload();
    await openAccountMenu(page);
    await page.getByText('Times in UTC').waitFor();
    expect(await page.locator('.zone button:visible').count()).toBe(0);
  });

  it('are in UTC without JavaScript, or in the time zone that the browser chose before', async () => {
    const page = await openAs(LOGS, { timeZone: ZONE, javaScript: false });
    await waitForZone(page, 'UTC');
    expect(await page.locator('.zone button:visible').count()).toBe(0);
    await page
      .context()
      .addCookies([{ name: 'time_zone', value: encodeURIComponent(ZONE), url: service.baseUrl }]);
    await page.reload();
    await waitForZone(page, ZONE);
    await page.getByText('More filters').click();
    await page.getByLabel('From', { exact: true }).fill(clockAt(OFFSET));
    await page.getByRole('button', { name: 'Apply filters' }).click();
    await page.waitForURL(/start=/);
    expect(await page.locator('tbody tr[id^=entry-]').count()).toBe(2);
    await openAccountMenu(page);
    await page.getByRole('button', { name: 'Use UTC' }).click();
    await waitForZone(page, 'UTC');
    expect(await page.locator('tbody tr[id^=entry-]').count()).toBe(2);
  });

  it('can be in any time zone, found by a part of its name', async () => {
    const page = await openAs(`${LOGS}?period=7d`, { javaScript: false });
    await openAccountMenu(page);
    await page.getByRole('link', { name: 'Choose a time zone' }).click();
    await page.waitForURL(/\/time-zone/);
    expect(await page.locator('datalist option[value*=Darwin]').getAttribute('value')).toBe(ZONE);
    expect(await page.locator('datalist option').count()).toBeGreaterThan(300);
    await page.getByLabel('Time zone').fill('Darwin');
    await page.getByRole('button', { name: 'Use this time zone' }).click();
    await page.getByText('The time zone is unknown. Choose one from the list.').waitFor();
    expect(await page.locator(':focus').getAttribute('aria-describedby')).toContain('zone-error');
    await page.getByLabel('Time zone').fill(ZONE);
    await page.getByRole('button', { name: 'Use this time zone' }).click();
    await page.waitForURL(`**${LOGS}?period=7d`);
    await waitForZone(page, ZONE);
  });

  it('refuse unknown time zones, and lead to pages of the service only', async () => {
    const visitor = new Visitor(service);
    visitor.cookies.set('session', login.cookie.replace('session=', ''));
    await visitor.get(LOGS);
    const choose = (zone: string, page: string) => visitor.submit('/time-zone', { zone, page });
    expect(await choose('Mars/Olympus', LOGS)).toMatchObject({ status: 400 });
    expect(visitor.cookies.has('time_zone')).toBe(false);
    expect((await choose(ZONE, `${LOGS}?period=7d`)).location).toBe(`${LOGS}?period=7d`);
    for (const page of ['//evil.example', '/\\evil.example', 'https://evil.example', '', '/a\tb'])
      expect((await choose(ZONE, page)).location).toBe('/dashboard');
    expect((await visitor.submit('/time-zone', { zone: 'UTC', form_token: 'forged' })).status).toBe(403);
    const query = 'start=2026-01-31T08:15&zone=Mars/Olympus';
    expect((await visitor.get(`${LOGS}?${query}`)).status).toBe(400);
    visitor.cookies.set('time_zone', 'Mars%2FOlympus');
    expect((await visitor.get(LOGS)).text).toContain('Times in UTC');
  });
});
