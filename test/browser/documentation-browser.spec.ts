import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CDPSession, Locator, Page } from 'playwright-core';
import { describeInBrowser, inspect, tabTo } from '../support/browser.js';
import { loadFactor } from '../support/eventually.js';
import { rememberSecret } from '../support/run-directory.js';
import { useTestApp } from '../support/test-app.js';
/** Bytes that a page may transfer, with all its files. */
const MAX_TRANSFER = 600_000;

const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8')) as {
  tags: { name: string }[];
  webhooks: Record<string, unknown>;
};

const service = useTestApp({ DASHBOARD_URL: 'https://dashboard.example.com' });

describeInBrowser('The documentation in a browser', (windows) => {
  const PHONE = { width: 390, height: 844 };

  /** Opens a page. @returns the page, and the bytes that it has transferred so far */
  const measured = async (path: string): Promise<{ page: Page; transferred: () => number }> => {
    const page = await windows.open(service.baseUrl);
    const session: CDPSession = await page.context().newCDPSession(page);
    let bytes = 0;
    session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
    await session.send('Network.enable');
    await page.goto(path);
    await page.waitForLoadState('networkidle');
    return { page, transferred: () => bytes };
  };

  it('finds sections and operations with the keyboard alone, and transfers less than 600 KB', async () => {
    const { page, transferred } = await measured('/docs');
    await page.keyboard.press('/');
    await page.keyboard.type('standard webhoks');
    await page.locator('.results a').first().waitFor();
    expect(transferred()).toBeGreaterThan(50_000);
    const reference = page.getByRole('link', { name: 'API reference' }).first();
    expect(await reference.getAttribute('href')).toBe('/docs/api');
    expect(await page.getByRole('status').textContent()).toMatch(/^\d+ results?$/);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/docs\/(?:webhooks|receivers)#/);

    await page.keyboard.press('/');
    await page.keyboard.type('POST /detected-accounts/search');
    await page.locator('.results a').first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/docs\/api#/);
    const opened = page.locator('.opblock.is-open');
    // Swagger UI needs seconds of CPU time to show the whole document and to open an operation, and many on a busy machine.
    await opened.waitFor({ timeout: 45_000 * loadFactor() });
    expect(await opened.locator('.opblock-summary-path').textContent()).toContain('search');

    await page.keyboard.press('/');
    await page.keyboard.type('xyzzy');
    await page.getByText('No results for “xyzzy”.').waitFor();
    await page.keyboard.press('Escape');
    expect(await page.locator('.results').isVisible()).toBe(false);
    await page.waitForLoadState('networkidle');
    expect(transferred()).toBeLessThan(MAX_TRANSFER);
  });

  it('works without scripts, except the search', async () => {
    const page = await windows.open(service.baseUrl, { javaScript: false, size: PHONE });
    await page.goto('/docs');
    expect(await page.getByRole('search').isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Menu' }).click();
    await page
      .getByRole('navigation', { name: 'Documentation' })
      .getByRole('link', { name: 'Errors' })
      .click();
    await page.getByRole('link', { name: 'INVALID_FIELD', exact: true }).first().click();
    expect(page.url()).toBe(`${service.baseUrl}/docs/errors#invalid_field`);
    await page.goto('/docs/api');
    expect(await page.locator('main').textContent()).toContain('POST /mcp/tokens/create');
  });

  it('copies commands', async () => {
    const page = await windows.open(service.baseUrl);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto('/docs/quickstart');
    await page.locator('main pre').first().hover();
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('npm ci && npm start');
  });

  it('shows the focus of every element', async () => {
    const page = await windows.open(service.baseUrl);
    await page.goto('/docs');
    expect(await tabTo(page, 'Quickstart')).toEqual(
      expect.arrayContaining(['Skip to content', 'Merchant Connectivity Docs']),
    );
  });

  const search = async (page: Page): Promise<void> => {
    await page.getByRole('searchbox').fill('token');
    await page.locator('.results a').first().waitFor();
  };
  const views: readonly (readonly [view: string, path: string, prepare?: (page: Page) => Promise<void>])[] = [
    ['home', '/docs'],
    ['guide', '/docs/pagination'],
    ['errors', '/docs/errors'],
    ['unknown', '/docs/nothing'],
    ['search', '/docs', search],
    ['api', '/docs/api', (page) => page.locator('.opblock-tag').first().waitFor()],
  ];
  const looks = views.map(([view, path, prepare]) => ({ view, path, prepare }));

  it.each(looks)('is accessible at all widths, in both schemes ($view)', async ({ view, path, prepare }) => {
    const page = await windows.open(service.baseUrl, { bypassPolicy: true });
    await page.goto(path);
    await prepare?.(page);
    // Swagger UI is what its authors made it.
    expect(
      await inspect(page, `docs-${view}`, { foreign: '.swagger-ui', isLayout: view === 'home' }),
    ).toEqual([]);
  });
});

describeInBrowser('The API reference', (windows) => {
  let page: Page;
  // Swagger UI needs seconds of CPU time to show the whole document, so these tests share the page.
  beforeAll(async () => {
    page = await windows.open(service.baseUrl, { size: { width: 390, height: 900 } });
    await page.goto('/docs/api');
    await page.locator('.opblock-tag').first().waitFor();
  });
  const open = async (text: string): Promise<Locator> => {
    const operation = page.locator('.opblock', { hasText: text });
    const list = page.getByRole('navigation', { name: 'Operations' });
    await list.getByLabel('Filter operations').fill(text);
    await list.getByRole('link').click();
    await operation.locator('.responses-table').first().waitFor();
    return operation;
  };

  it('lists operations by surface and topic, and the webhooks, on a phone', async () => {
    const headings = await page.locator('.opblock-tag').allTextContents();
    const topics = document.tags.map(({ name }) => name);
    expect(headings.map((text, index) => text.startsWith(topics[index] ?? '-'))).toEqual(
      topics.map(() => true),
    );
    for (const name of Object.keys(document.webhooks)) {
      expect(await page.locator('.webhooks').getByText(name, { exact: true }).count()).toBeGreaterThan(0);
    }
    const narrowest = await page
      .locator('.opblock-tag small')
      .evaluateAll((texts) => Math.min(...texts.map((text) => text.clientWidth)));
    expect(narrowest).toBeGreaterThan(390 / 3);

    const operation = await open('/mcp/tokens/create');
    expect(await operation.textContent()).toContain('at the start of each agent session');
    const statuses = await operation.locator('.responses-table .response-col_status').allTextContents();
    expect(statuses).toEqual(
      expect.arrayContaining(['200', '400', '401', '413', '415', '429', '500', '503']),
    );
    expect(await operation.textContent()).toContain(
      'The phone number must be a valid number in a supported country. Supported: US, CA.',
    );
  });

  it('executes operations of its own host, and leads to the other hosts', async () => {
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole('button', { name: 'Authorize' }).click();
    const { clientId, secret } = service.development;
    const basic = page.locator('.modal-ux .auth-container').first();
    await basic.locator('input[name="username"]').fill(clientId);
    await basic.locator('input[name="password"]').fill(secret);
    await basic.getByRole('button', { name: /Authorize|Apply credentials/ }).click();
    await basic.getByRole('button', { name: 'Close' }).click();

    const own = await open('/mcp/tokens/create');
    const created = page.waitForResponse((response) => response.url().endsWith('/mcp/tokens/create'));
    await own.getByRole('button', { name: 'Execute' }).click();
    const response = await created;
    expect(response.status()).toBe(200);
    rememberSecret(((await response.json()) as { token: string }).token);

    const other = await open('Get current user');
    expect(await other.getByRole('button', { name: /Execute|Try it out/ }).count()).toBe(0);
    expect(await other.locator('.servers').textContent()).toContain('Dashboard API');
    const link = page.getByRole('link', { name: 'Dashboard API', exact: true });
    expect(await link.getAttribute('href')).toBe('https://dashboard.example.com/docs/api');
  });
});
