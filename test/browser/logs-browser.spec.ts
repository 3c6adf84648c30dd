import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { MINUTE } from '../../src/infrastructure/time/index.js';
import type { AttributedClient } from '../../src/infrastructure/http/index.js';
import type { AnyEvent } from '../../src/infrastructure/event-catalog/index.js';
import { AuditLog } from '../../src/modules/audit-logs/index.js';
import { WebhookPublisher } from '../../src/modules/webhooks/index.js';
import {
  describeInBrowser,
  focused,
  inspect,
  savePicture,
  tabTo,
  waitForHeading,
  type WindowOptions,
} from '../support/pages/browser.js';
import { eventually } from '../support/eventually.js';
import {
  fillRequestLog,
  loggedAttempt,
  loggedRequest,
  requestIsLogged,
} from '../support/logs/request-log-entries.js';
import { useTestApp, type Login } from '../support/test-app.js';

const LOGS = '/dashboard/production/request-logs';
const AUDIT = '/dashboard/audit-log';
const PHONE = { width: 390, height: 844 };
const EVENT: AnyEvent = {
  event: 'MERCHANT_STATUS_UPDATE',
  merchant: { id: 16, name: 'Netflix' },
  data: { status: 'UNDER_MAINTENANCE' },
} as unknown as AnyEvent;

describeInBrowser('The log pages in a browser', (windows) => {
  const service = useTestApp();
  let production: AttributedClient;
  let login: Login;

  beforeAll(async () => {
    production = { clientId: service.production.clientId, environment: 'production' };
    login = await service.login('owner');
    await fillLogs();
    const auditLog = service.app.get(AuditLog);
    const actor = {
      organizationId: service.organizationId,
      name: 'Ada Lovelace',
      email: 'ada@example.com',
      origin: {
        ip: '203.0.113.7',
        userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:147.0) Gecko/20100101 Firefox/147.0',
      },
    };
    await auditLog.record({ action: 'auth.login', actor, target: { name: 'ada@example.com' } });
    await auditLog.record({ action: 'user.add', actor, target: { name: 'bob@example.com' } });
    await auditLog.record({ action: 'secret.view', actor, target: { name: production.clientId } });
    await auditLog.record({
      action: 'user.remove',
      actor,
      target: { name: randomUUID() },
      outcome: 'denied',
    });
    await auditLog.record({
      action: 'webhook.update',
      actor: { ...actor, name: 'system', email: 'system', origin: { ip: '', userAgent: 'background job' } },
      target: { name: 'https://hooks.example.com/merchants?token=***', environment: 'production' },
    });
  });
  const ago = (minutes: number): Date => new Date(Date.now() - minutes * MINUTE);

  async function fillLogs(): Promise<void> {
    const eventId = await service.app.get(WebhookPublisher).publish(production, EVENT);
    const endpoint = await service.request<{ id: string }>('/webhook-endpoints/create', {
      body: { environment: 'production', url: 'https://hooks.example.com/merchants', status: 'paused' },
      login,
    });
    const attempt = {
      endpointId: endpoint.body.id,
      eventId,
      number: 1,
      reason: 'NON_200',
      responseBody: '{"error":"The queue is full."}',
      phases: { dns: 3, connect: 14, tls: 23, firstByte: 60 },
    };
    await fillRequestLog(service, [
      ...Array.from({ length: 60 }, (_, index) =>
        loggedRequest(production, { createdAt: ago(60 + index), externalUserId: `user-${index}` }),
      ),
      loggedRequest(production, { createdAt: ago(30), statusCode: 401 }),
      loggedRequest(production, { createdAt: ago(20), statusCode: 500, path: '/session/open' }),
      loggedAttempt(production, {
        createdAt: ago(10),
        event: 'MERCHANT_STATUS_UPDATE',
        latencyMilliseconds: 112,
        attempt,
      }),
      loggedAttempt(production, {
        createdAt: ago(5),
        event: 'MERCHANT_STATUS_UPDATE',
        statusCode: 200,
        attempt: { ...attempt, number: 2, reason: null },
      }),
    ]);
  }

  async function openAs(path: string, options: WindowOptions = {}): Promise<Page> {
    const page = await windows.open(service.baseUrl, { ...options, login });
    await page.goto(path);
    return page;
  }

  it('all pages are accessible', async () => {
    const page = await openAs(LOGS, { bypassPolicy: true });
    const findings = await inspect(page, 'request-logs');
    await page.goto(`${LOGS}?outcome=failure&event=MERCHANT_STATUS_UPDATE`);
    findings.push(...(await inspect(page, 'request-logs-filtered')));
    await page.getByRole('link', { name: 'MERCHANT_STATUS_UPDATE to hooks.example.com' }).click();
    await waitForHeading(page, 'MERCHANT_STATUS_UPDATE to hooks.example.com');
    findings.push(...(await inspect(page, 'request-log-delivery')));
    await page.goto(AUDIT);
    findings.push(...(await inspect(page, 'audit-log')));
    await page.goto(`${LOGS}?status_code=401`);
    await page.getByRole('link', { name: 'POST /mcp/tokens/create' }).click();
    await waitForHeading(page, 'POST /mcp/tokens/create');
    findings.push(...(await inspect(page, 'request-log-request')));
    await page.goto(`${LOGS}?external_user_id=nobody`);
    findings.push(...(await inspect(page, 'request-logs-no-match')));
    await page.goto(`${LOGS}?status_code=99`);
    findings.push(...(await inspect(page, 'request-logs-problem')));
    await page.goto(LOGS.replace('production', 'development'));
    findings.push(...(await inspect(page, 'request-logs-empty')));
    await page.goto(`${LOGS}/columns/choose`);
    findings.push(...(await inspect(page, 'request-logs-columns')));
    await page.goto(AUDIT);
    await page.getByRole('link', { name: 'added a user' }).click();
    await waitForHeading(page, /^Ada Lovelace added /);
    findings.push(...(await inspect(page, 'audit-log-entry')));
    await page.goto(`${AUDIT}/verify`);
    findings.push(...(await inspect(page, 'audit-log-verify')));
    expect(findings).toEqual([]);
  });

  it.each([
    ['request log', LOGS],
    ['audit log', AUDIT],
    ['list of events', '/dashboard/production/events'],
  ])('a period is dragged in the histogram of the %s, and a click opens a bar', async (_, path) => {
    const page = await openAs(path);
    const chart = page.locator('.histogram svg');
    const { x = 0, y = 0, width = 0, height = 0 } = (await chart.boundingBox()) ?? {};
    const [start = 0, end = 0] = await Promise.all(
      ['data-start', 'data-end'].map(async (name) => Number(await chart.getAttribute(name))),
    );
    const drag = async (from: number, to: number): Promise<void> => {
      await page.mouse.move(x + from * width, y + height - 4);
      await page.mouse.down();
      await page.mouse.move(x + to * width, y + height - 4, { steps: 4 });
    };
    await drag(0.9, 0.5);
    expect(await page.locator('.histogram .dragged').getAttribute('width')).not.toBe('0');
    await page.keyboard.press('Escape');
    await page.mouse.up();
    expect(page.url()).not.toContain('start=');
    await drag(0.995, 0.5);
    await page.mouse.up();
    await page.waitForURL(/start=.*end=/);
    const times = new URL(page.url()).searchParams;
    const length = Date.parse(times.get('end') ?? '') - Date.parse(times.get('start') ?? '');
    expect(length / (end - start)).toBeGreaterThan(0.4);
    expect(length / (end - start)).toBeLessThan(0.6);
    await page.locator('.histogram a').last().click();
    await page.waitForURL((url) => url.searchParams.get('start') !== times.get('start'));
  });

  it('filters without a reload, shows errors, and updates live', async () => {
    const page = await openAs(LOGS);
    await page.evaluate('window.isSame = true');
    await page.getByLabel('Type').selectOption('webhook');
    await page.waitForURL(/type=webhook/);
    await page.getByText('POST /mcp/tokens/create').first().waitFor({ state: 'detached' });
    expect(await page.locator('tbody tr[id^=entry-]').count()).toBe(2);
    expect(page.url()).not.toContain('outcome=');
    expect(await page.evaluate('window.isSame')).toBe(true);

    await page.getByText('More filters').click();
    await page.getByLabel('Status code').fill('99');
    await page.keyboard.press('Tab');
    await page.getByRole('alert').waitFor();
    expect(await focused(page)).toMatchObject({ name: 'Error code' });
    expect(await page.evaluate('window.isSame')).toBe(true);
    expect(await page.getByRole('alert').textContent()).toContain('“Status code”');
    expect(await page.getByLabel('Status code').inputValue()).toBe('99');

    await page.goto(`${LOGS}?live=on`);
    await fillRequestLog(service, [loggedRequest(production, { createdAt: new Date(), path: '/just/now' })]);
    await page.getByText('POST /just/now').waitFor();
    await page.getByRole('link', { name: 'Stop live updates' }).click();
    await page.getByRole('link', { name: 'Start live updates' }).waitFor();
    await page.getByRole('link', { name: 'Next page' }).click();
    await page.waitForURL(/cursor=/);
    expect(await page.getByText('live updates').count()).toBe(0);
  });

  it('keeps focus, selection and place during live updates, and says how many entries are new', async () => {
    const page = await openAs(`${LOGS}?live=on`, { size: { width: 1366, height: 700 } });
    const rows = page.locator('#results tbody tr[id^=entry-]');
    // The last row of the page leaves it when newer entries arrive.
    await rows.last().getByRole('link').first().focus();
    const id = await rows.last().getAttribute('id');
    const where = async (): Promise<unknown> =>
      page.evaluate(async () => {
        // The browser restores the place when it draws the page: between two frames.
        const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
        await frame();
        await frame();
        return {
          row: document.activeElement?.closest('tr')?.id,
          top: Math.round(document.activeElement?.getBoundingClientRect().top ?? 0),
          selected: getSelection()?.toString(),
        };
      });
    await rows.nth(30).evaluate((row) => {
      const link = row.querySelector('a')!;
      getSelection()?.selectAllChildren(link);
    });
    const before = await where();
    expect(before).toMatchObject({ row: id, selected: 'POST /mcp/tokens/create' });
    const addEntries = (count: number) =>
      fillRequestLog(
        service,
        Array.from({ length: count }, () =>
          loggedRequest(production, { createdAt: new Date(), path: '/just/added' }),
        ),
      );
    await addEntries(3);
    await page.getByRole('status').getByText('3 new entries', { exact: true }).waitFor();
    expect(await page.getByText('POST /just/added').count()).toBe(3);
    expect(await where()).toEqual(before);
    await addEntries(1);
    await page.getByRole('status').getByText('1 new entry', { exact: true }).waitFor();
    expect(await where()).toEqual(before);
    expect(await rows.count()).toBe(51);
  });

  it('shows 15 entries at 1366 × 700, and keeps the titles and the navigation in view', async () => {
    const page = await openAs(LOGS, { size: { width: 1366, height: 700 } });
    await savePicture(page, 'request-logs-1366');
    const entriesInView = (): Promise<number> =>
      page
        .locator('#results tbody tr[id^=entry-]')
        .evaluateAll(
          (rows) => rows.filter((row) => row.getBoundingClientRect().bottom <= innerHeight).length,
        );
    expect(await entriesInView()).toBeGreaterThanOrEqual(15);
    await page.evaluate('scrollTo(0, 900)');
    for (const part of [
      page.getByRole('columnheader', { name: 'Time' }),
      page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Overview' }),
    ]) {
      const box = await part.boundingBox();
      expect(box?.y).toBeGreaterThanOrEqual(0);
      expect(box?.y).toBeLessThan(120);
    }
  });

  it('opens an entry beside the list, and the next ones by keyboard', async () => {
    const page = await openAs(LOGS, { size: { width: 1366, height: 700 }, bypassPolicy: true });
    const list = page.url();
    const entry = page.getByRole('complementary', { name: 'Selected entry' });
    const link = page.getByRole('link', { name: 'MERCHANT_STATUS_UPDATE to hooks.example.com' }).first();
    await link.focus();
    await page.keyboard.press('Enter');
    await entry.getByRole('heading', { name: 'MERCHANT_STATUS_UPDATE to hooks.example.com' }).waitFor();
    await eventually('the entry has the focus', async () => (await focused(page)).name.includes('Close'));
    await page.keyboard.press('Escape');
    await entry.waitFor({ state: 'hidden' });
    await link.click();
    await entry.waitFor();
    await page.keyboard.press('ArrowDown');
    await entry.getByText('Your endpoint responded with 503.').waitFor();
    await savePicture(page, 'request-logs-split-1366');
    expect(page.url().split('#')).toEqual([list, expect.stringMatching(/^entry-\d+$/)]);
    expect(await inspect(page, 'request-logs-split')).toEqual([]);
    await page.setViewportSize({ width: 1366, height: 700 });
    await entry.getByRole('link', { name: 'Open as a page' }).click();
    await page.waitForURL(/request-logs\/\d+$/);
  });

  it('names the opened entry in the address, for a reload and for going back', async () => {
    const page = await openAs(LOGS, { size: { width: 1366, height: 700 } });
    const entry = page.getByRole('complementary', { name: 'Selected entry' });
    const shown = (text: string) => entry.getByText(text).first().waitFor();
    const closed = () => entry.waitFor({ state: 'hidden' });
    await page.evaluate('window.isSame = true');
    await page.getByLabel('Type').selectOption('webhook');
    await page.waitForURL(/type=webhook/);
    const list = page.url();
    const links = page.locator('#results td.main a');
    await page.getByText('POST /mcp/tokens/create').first().waitFor({ state: 'detached' });
    await links.first().click();
    await entry.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('ArrowDown');
    await shown('Your endpoint responded with 503.');
    const address = page.url();
    expect(address).toMatch(/type=webhook#entry-\d+$/);

    await page.goBack();
    await closed();
    expect(page.url()).toBe(list);
    await page.goForward();
    await shown('Your endpoint responded with 503.');
    await page.keyboard.press('Escape');
    await closed();
    expect(page.url()).toBe(list);
    expect(await focused(page)).toMatchObject({ name: await links.nth(1).textContent() });
    expect(await page.evaluate('window.isSame')).toBe(true);
    // The list before the filter.
    await page.goBack();
    await page.getByText('POST /mcp/tokens/create').first().waitFor();
    await page.goForward();
    await page.waitForURL(list);
    await page.getByText('POST /mcp/tokens/create').first().waitFor({ state: 'detached' });

    await page.goto(LOGS);
    await page.goto(address);
    await shown('Your endpoint responded with 503.');
    await page.reload();
    await shown('Your endpoint responded with 503.');
    await entry.getByRole('button', { name: 'Close' }).click();
    await closed();
    expect(page.url()).toBe(list);
    await links.first().click();
    await entry.waitFor();
    await page.getByLabel('Outcome').selectOption('failure');
    await page.waitForURL(/outcome=failure$/);
    await closed();
  });

  it('applies choices at once, and removes a filter with its chip', async () => {
    const page = await openAs(LOGS);
    await page.getByLabel('Event', { exact: true }).selectOption('MERCHANT_STATUS_UPDATE');
    await page.waitForURL(/event=MERCHANT_STATUS_UPDATE/);
    await page.getByText('More filters').click();
    await page.getByLabel('Status code').fill('200');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Remove the filter Status code: 200' }).click();
    await page.waitForURL((url) => !url.search.includes('status_code='));
    // The chip of the event is for phones.
    await page.locator('.chip:visible').first().waitFor({ state: 'detached' });
  });

  it('applies text when the field is left, on Enter, and a search after a pause', async () => {
    const page = await openAs(LOGS);
    const requests: string[] = [];
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url());
      if (pathname === LOGS) requests.push(search);
    });
    expect(await page.getByRole('button', { name: 'Apply filters' }).count()).toBe(0);
    await page.getByText('More filters').click();
    const user = page.getByLabel('Customer', { exact: true });
    await user.fill('user-7');
    await user.press('Enter');
    await page.waitForURL(/external_user_id=user-7$/);
    await page.getByText('user-8').waitFor({ state: 'detached' });
    await user.press('Tab');
    await page.keyboard.press('Shift+Tab');
    await user.fill('user-9');
    await user.press('Tab');
    await page.waitForURL(/external_user_id=user-9$/);
    // One request for each change, and none while the user types or for a field that did not change.
    expect(requests).toEqual([7, 9].map((number) => `?period=24h&external_user_id=user-${number}`));
    // A click on a link counts, although it leaves a field that was changed.
    await user.fill('user-1');
    await page.getByRole('link', { name: 'Clear filters' }).click();
    await page.waitForURL((url) => url.search === '');
    expect(await user.inputValue()).toBe('');

    await page.goto(AUDIT);
    await page.getByLabel('Name or email').pressSequentially('nobody');
    await page.waitForURL(/actor=nobody$/);
    await page.getByText('No entries match these filters').waitFor();
    expect(await focused(page)).toMatchObject({ name: 'Name or email' });
  });

  it('says why a request failed, and finds the others with the same error', async () => {
    const requestId = randomUUID();
    const refused = await service.request('/mcp/tokens/create', {
      body: {},
      headers: { 'X-Request-Id': requestId },
      as: service.production,
    });
    expect(refused.status).toBe(400);
    await requestIsLogged(service, refused);
    const page = await openAs(`${LOGS}?outcome=failure&type=request`, { bypassPolicy: true });
    await page.getByText('400 INVALID_FIELD').first().waitFor();
    await page.getByRole('link', { name: 'POST /mcp/tokens/create' }).first().click();
    await page.getByText(String(refused.body['error_message'])).first().waitFor();
    await page.getByText(requestId).waitFor();
    expect(await inspect(page, 'request-log-error')).toEqual([]);
    await page.getByRole('link', { name: 'All entries with this code' }).click();
    await page.waitForURL(/error_code=INVALID_FIELD/);
    expect(await page.getByRole('link', { name: 'POST /mcp/tokens/create' }).count()).toBeGreaterThan(0);
  });

  it('finds why a delivery failed, by keyboard on a phone', async () => {
    const page = await openAs(LOGS, { size: PHONE });
    const { y = PHONE.height } = (await page.locator('tbody tr[id^=entry-]').first().boundingBox()) ?? {};
    expect(y).toBeLessThan(PHONE.height * 0.6);
    // With the latency, an entry would be three lines.
    const entry = page.locator('tbody tr[id^=entry-]', { hasText: 'user-0' });
    expect((await entry.boundingBox())?.height).toBeLessThan(65);
    expect(await entry.getByText(' ms').isVisible()).toBe(false);
    await tabTo(page, 'Filters');
    await page.keyboard.press('Enter');
    await tabTo(page, 'Outcome');
    await page.keyboard.press('f');
    await page.waitForURL(/outcome=failure/);
    await eventually('the results are in view', async () => {
      const box = await page.locator('#results').boundingBox();
      // A short list is in view without scrolling.
      return box !== null && (box.y < PHONE.height / 2 || box.y + box.height <= PHONE.height);
    });
    const list = page.url();
    await page.getByRole('link', { name: 'MERCHANT_STATUS_UPDATE to hooks.example.com' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Your endpoint responded with 503.').waitFor();
    await waitForHeading(page, 'MERCHANT_STATUS_UPDATE to hooks.example.com');
    const names = await tabTo(page, 'Send again');
    expect(names).toContain('Request logs');
    await page.getByRole('main').getByRole('link', { name: 'Request logs' }).click();
    await page.waitForURL(list);
  });

  it('works without JavaScript', async () => {
    const page = await openAs(LOGS, { javaScript: false });
    expect(await page.getByText('live updates').isVisible()).toBe(false);
    await page.getByLabel('Period').selectOption('7d');
    await page.getByLabel('Outcome').selectOption('failure');
    await page.getByRole('button', { name: 'Apply filters' }).click();
    await page.waitForURL(/outcome=failure/);
    expect(await page.locator('tbody tr[id^=entry-]').count()).toBe(4);
    await page.getByRole('link', { name: 'Choose columns' }).click();
    await page.waitForURL(/\/columns\/choose/);
    await page.getByLabel('Session ID').check();
    await page.getByRole('button', { name: 'Save columns' }).click();
    await page.waitForURL(/\/request-logs\?.*outcome=failure/);
    expect(await page.getByRole('columnheader', { name: 'Session ID' }).count()).toBe(1);
    await page.goto(AUDIT);
    await page.getByLabel('Action').selectOption('Add a user');
    await page.getByRole('button', { name: 'Apply filters' }).click();
    await page.waitForURL(/action=/);
    expect(await page.locator('tbody tr[id^=entry-]').count()).toBe(1);
    await page.getByRole('link', { name: 'Verify the log' }).click();
    await waitForHeading(page, 'The audit log is intact');
  });
});
