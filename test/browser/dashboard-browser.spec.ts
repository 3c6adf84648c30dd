import type { Locator, Page } from 'playwright-core';
import {
  describeInBrowser,
  focused,
  inspect,
  logIn,
  type WindowOptions,
  waitForHeading,
} from '../support/pages/browser.js';
import { addUser, someAddress } from '../support/pages/dashboard-users.js';
import { eventually } from '../support/eventually.js';
import { PagePartsModule } from '../support/pages/page-parts.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import { useTestApp } from '../support/test-app.js';
import { useReceiver } from '../support/webhooks/webhook-receiver.js';

describeInBrowser('The dashboard in a browser', (windows) => {
  const service = useTestApp(
    { WEBHOOK_TARGETS: 'any' },
    { backgroundWork: true, modules: [PagePartsModule] },
  );
  const receiver = useReceiver();

  /** Opens a window in which an owner is logged in. */
  async function open(options: WindowOptions = {}): Promise<Page> {
    return windows.open(service.baseUrl, { ...options, login: await service.login('owner') });
  }

  it('the overview is accessible', async () => {
    // A day of requests with a few failures, and deliveries to an endpoint that is unknown.
    await service.database.query(
      `INSERT INTO request_log (client_id, environment, created_at, type, method, url, status_code, latency_ms)
       SELECT $1, 'development', now() - n * interval '1 minute', 'request', 'POST', '/mcp/tokens/create',
              CASE WHEN n % 9 = 0 THEN 400 WHEN n % 97 = 0 THEN 503 ELSE 200 END, 10 + n % 80
         FROM generate_series(1, 1200) n`,
      [service.development.clientId],
    );
    await service.database.query(
      `INSERT INTO request_log (client_id, environment, created_at, type, method, url, status_code, latency_ms, event)
       SELECT client_id, environment, created_at, 'webhook', 'POST', 'https://hooks.example.com/', status_code,
              latency_ms, 'CARD_UPDATED'
         FROM request_log WHERE client_id = $1 AND environment = 'development'`,
      [service.development.clientId],
    );
    const page = await open({ bypassPolicy: true });
    await page.goto('/dashboard');
    for (const period of ['1h', '7d', '24h']) {
      const response = await page.goto(`/dashboard/development?period=${period}`);
      expect((await response?.body())?.length).toBeLessThan(60_000);
    }
    await waitForHeading(page, 'Overview');
    expect(await inspect(page, 'overview', { isLayout: true })).toEqual([]);
    await page.getByRole('link', { name: 'Production' }).click();
    await page.waitForURL('**/dashboard/production');
    expect(await inspect(page, 'overview-empty')).toEqual([]);
  });

  it('the charts show values on hover and focus', async () => {
    const page = await open();
    await page.goto('/dashboard/development');
    const readingOf = (chart: Locator) => async (): Promise<string | false | null> => {
      const reading = chart.locator('.reading');
      const isShown = await reading.evaluate((element) => getComputedStyle(element).opacity === '1');
      return isShown && reading.textContent();
    };
    const lines = page.getByRole('group', { name: 'Latency' });
    const values = readingOf(lines);
    const rows = await page
      .getByRole('figure')
      .filter({ has: lines })
      .locator('tbody tr')
      .evaluateAll((all) =>
        all.map((row) => {
          const [time, median, p95] = [...(row as HTMLTableRowElement).cells].map((cell) => cell.textContent);
          return `${time} Median: ${median}, 95th percentile: ${p95}`;
        }),
      );
    expect(rows.at(-2)).toMatch(/^\d\d:\d\d Median: \d+ ms, 95th percentile: \d+ ms$/);
    expect(await values()).toBe(false);
    await lines.scrollIntoViewIfNeeded();
    const box = (await lines.boundingBox())!;
    // The right end of the axis is 24 of 480 units from that of the chart.
    await page.mouse.move(box.x + (box.width * 455) / 480, box.y + box.height / 2);
    expect(await values()).toBe(rows.at(-1));
    await page.mouse.move(0, 0);
    expect(await values()).toBe(false);
    await lines.focus();
    await page.keyboard.press('ArrowLeft');
    expect(await values()).toBe(rows.at(-2));
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    expect(await values()).toBe(rows.at(-1));

    // A click opens the entries of the time and the outcome of the bar, and the enter key those of the time.
    const bars = page.getByRole('group', { name: 'Requests by status' });
    const barValues = readingOf(bars);
    /** Returns points on bars of the outcome, the oldest first. */
    const pointsOf = (outcome: string): Promise<[x: number, y: number][]> =>
      bars.evaluate((chart, wanted) => {
        const { left, top, right, bottom } = chart.getBoundingClientRect();
        const found: [number, number][] = [];
        for (let x = Math.ceil(left); x < right; x += 5)
          for (let y = Math.ceil(top); y < bottom; y += 4) {
            const element = document.elementFromPoint(x, y) as SVGElement | null;
            if (element?.dataset['outcome'] === wanted) found.push([x, y]);
          }
        return found;
      }, outcome);
    for (const outcome of ['success', 'failure']) {
      const bar = (await pointsOf(outcome)).at(-1) ?? [0, 0];
      await page.mouse.move(...bar);
      const values = String(await barValues());
      expect(values).toMatch(/^\d\d:\d\d 2xx: \d+(, [45]xx: \d+)*$/);
      const path = await page
        .getByRole('figure')
        .filter({ has: bars })
        .locator('tbody a')
        .evaluateAll(
          (links, time) => links.find((link) => link.textContent === time)?.getAttribute('href'),
          values.slice(0, 5),
        );
      expect(path).toMatch(/request-logs\?type=request&start=/);
      await page.mouse.click(...bar);
      await waitForHeading(page, 'Request logs');
      const { pathname, searchParams } = new URL(page.url());
      expect(`${pathname}?${searchParams}`.replaceAll('%3A', ':')).toBe(`${path}&outcome=${outcome}`);
      await page.goBack();
    }
    // A finger does not move before it taps.
    const [oldest = [0, 0]] = await pointsOf('failure');
    await page.evaluate(([clientX, clientY]) => {
      const event = new MouseEvent('click', { bubbles: true, clientX, clientY });
      document.elementFromPoint(clientX, clientY)?.dispatchEvent(event);
    }, oldest);
    await waitForHeading(page, 'Request logs');
    const start = new URL(page.url()).searchParams.get('start');
    expect(Date.parse(`${start}Z`)).toBeLessThan(Date.now() - 15 * 3_600_000);
    await page.goBack();
    await bars.focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Enter');
    await waitForHeading(page, 'Request logs');
    expect(page.url()).toMatch(/type=request&start=/);
  });

  it('the charts lead to their entries without scripts', async () => {
    const page = await open({ javaScript: false });
    await page.goto('/dashboard/development');
    await page.getByText('Show as a table: Requests by status').click();
    const chart = page.locator('figure.chart', { hasText: 'Requests by status' });
    await chart.getByRole('link').first().click();
    await waitForHeading(page, 'Request logs');
    expect(page.url()).toMatch(/type=request&start=/);
  });

  it('all parts of pages are accessible', async () => {
    const page = await open({ bypassPolicy: true });
    await page.goto('/dashboard/parts');
    await waitForHeading(page, 'Parts of pages');
    expect(await inspect(page, 'parts', { isLayout: true })).toEqual([]);
  });

  /** A way to use the dashboard. */
  interface Way {
    readonly options: WindowOptions;
    readonly byKeyboard?: boolean;
  }
  const PHONE = { width: 390, height: 844 };
  const WAYS: Readonly<Record<string, Way>> = {
    'on a desk': { options: {} },
    'by keyboard': { options: {}, byKeyboard: true },
    'on a phone without JavaScript': { options: { size: PHONE, javaScript: false } },
  };

  it.each(Object.entries(WAYS))(
    'a new owner finds the way through the dashboard (%s)',
    async (_name, way) => {
      receiver.arrivals.length = 0;
      const { id } = await service.anotherOrganization();
      const user = await addUser(service, id);
      await service.database.query(`UPDATE dashboard_user SET role = 'owner' WHERE id = $1`, [user.id]);
      const page = await windows.open(service.baseUrl, way.options);
      const isPhone = way.options.size !== undefined;

      const choose = async (target: Locator): Promise<void> => {
        if (!way.byKeyboard) return target.click();
        // Finding the element by its role takes longer than a press.
        const wanted = await target.elementHandle();
        // Before that, the page can lack the style sheet that shows the focus.
        await page.waitForLoadState();
        for (let presses = 0; presses < 150; presses += 1) {
          await page.keyboard.press('Tab');
          if (await wanted?.evaluate((element) => element === document.activeElement)) {
            expect((await focused(page)).isVisible).toBe(true);
            return page.keyboard.press('Enter');
          }
        }
        throw new Error(`Tab does not reach ${String(target)}`);
      };
      const link = (name: string | RegExp): Promise<void> =>
        choose(page.locator('main').getByRole('link', { name }).first());
      const button = (name: string): Promise<void> =>
        choose(page.locator('main').getByRole('button', { name }).first());
      /** Opens a page by the navigation, which is a menu on a phone. */
      const navigate = async (name: string): Promise<void> => {
        if (isPhone) await page.getByText('Menu', { exact: true }).click();
        const navigation = page.getByRole('navigation', { name: 'Main' });
        await choose(navigation.getByRole('link', { name, exact: true }));
        await waitForHeading(page, name);
      };
      const says = (text: string | RegExp) => page.getByText(text).first().waitFor();

      await logIn(page, user);
      await waitForHeading(page, 'Overview');
      await says('First steps');
      await link('Create a webhook endpoint');
      await page.getByLabel('URL').fill(`${receiver.url}/hook`);
      await button('Create endpoint');
      await waitForHeading(page, 'The new signing key');
      rememberSecret((await page.locator('.code-block code').first().textContent()) ?? '');
      await says('The endpoint was created');
      await link('Continue to the endpoint');

      await link('Send test');
      await button('Send test');
      await says('The receiver works.');
      expect(receiver.arrivals).toHaveLength(1);

      await navigate('Request logs');
      await choose(page.locator('#results tbody a').first());
      await waitForHeading(page, / to 127\.0\.0\.1:\d+$/);
      await button('Send again');
      await says('The event is being sent.');
      await eventually('the event arrives again', () => receiver.arrivals.length === 2 || undefined);

      await navigate('API credentials');
      await link('Rotate secret');
      await button('Rotate secret');
      await waitForHeading(page, 'The new development secret');
      rememberSecret((await page.locator('.code-block code').first().textContent()) ?? '');

      await navigate('Users');
      await link('Invite user');
      await page.getByLabel('Email address').fill(someAddress());
      await page.getByLabel('Name').fill('Grace Hopper');
      await button('Send invitation');
      await says('The user was invited');

      await choose(page.locator('.account summary'));
      await choose(page.getByRole('link', { name: 'Devices' }));
      await waitForHeading(page, 'Devices');
      await says('No device has access on your behalf');
    },
  );
});
