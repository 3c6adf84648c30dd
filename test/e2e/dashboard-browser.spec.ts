import type { Page } from 'playwright-core';
import { describeInBrowser, headingOf, inspect, type WindowOptions } from '../support/browser.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

describeInBrowser('The dashboard in a browser', (windows) => {
  let service: TestApp;

  beforeAll(async () => {
    service = await startTestApp();
  });
  afterAll(() => service.close());
  // Problems of all pages that the tests visited.
  afterAll(() => expect(windows.findings).toEqual([]));

  /** Opens a window in which an owner is logged in. */
  async function open(options: WindowOptions = {}): Promise<Page> {
    const { cookie } = await service.login('owner');
    const page = await windows.open(service.baseUrl, options);
    const [name = '', value = ''] = cookie.split('=');
    await page.context().addCookies([{ name, value, url: service.baseUrl }]);
    return page;
  }

  it.each(['light', 'dark'] as const)('the overview is accessible (%s)', async (scheme) => {
    // A day of requests with a few failures, and deliveries to an endpoint that is unknown.
    await service.database.query(
      `INSERT INTO request_log (client_id, environment, created_at, type, method, url, status_code, latency_ms)
       SELECT $1, 'development', now() - n * interval '1 minute', 'request', 'POST', '/mcp/tokens/create',
              CASE WHEN n % 9 = 0 THEN 400 WHEN n % 97 = 0 THEN 503 ELSE 200 END, 10 + n % 80
         FROM generate_series(1, 1200) n`,
      [service.development.clientId],
    );
    const page = await open({ scheme, bypassPolicy: true });
    await page.goto('/dashboard');
    expect(await headingOf(page)).toBe('Overview');
    expect(await inspect(page, 'overview')).toEqual([]);
    await page.getByRole('link', { name: 'Production' }).click();
    expect(await inspect(page, 'overview-empty')).toEqual([]);
  });

  it.each(['light', 'dark'] as const)('all parts of pages are accessible (%s)', async (scheme) => {
    const page = await open({ scheme, bypassPolicy: true });
    await page.goto('/dashboard/parts');
    expect(await headingOf(page)).toBe('Parts of pages');
    expect(await inspect(page, 'parts')).toEqual([]);
  });
});
