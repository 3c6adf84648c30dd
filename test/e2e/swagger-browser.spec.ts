import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/browser.js';
import { rememberSecret } from '../support/run-directory.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const ROOT = join(import.meta.dirname, '..', '..');
const PICTURES = join(ROOT, '.artefacts', 'pages');
const document = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8')) as {
  tags: { name: string }[];
  webhooks: Record<string, unknown>;
};

describeInBrowser('Swagger UI', (windows) => {
  let service: TestApp;

  beforeAll(async () => {
    mkdirSync(PICTURES, { recursive: true });
    service = await startTestApp();
  });
  afterAll(() => service.close());
  afterAll(() => expect(windows.findings).toEqual([]));

  const openDocument = async (width: number): Promise<Page> => {
    const page = await windows.open(service.baseUrl, { size: { width, height: 900 } });
    await page.goto('/docs');
    await page.locator('.opblock').first().waitFor();
    return page;
  };

  it.each([390, 1280])('lists operations by surface and topic, and the webhooks, at %s px', async (width) => {
    const page = await openDocument(width);
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
    expect(narrowest).toBeGreaterThan(width / 3);
    await page.screenshot({ path: join(PICTURES, `document-${width}.png`), fullPage: true });
  });

  it.each([390, 1280])('shows an operation, its errors and its server at %s px', async (width) => {
    const page = await openDocument(width);
    const operation = page.locator('.opblock', { hasText: '/mcp/tokens/create' });
    await operation.locator('.opblock-summary-control').click();
    await operation
      .getByText('Call this operation from your backend at the start of each agent session')
      .waitFor();
    expect(await operation.locator('.servers').textContent()).toContain('Platform API');
    const statuses = await operation.locator('.responses-table .response-col_status').allTextContents();
    expect(statuses).toEqual(
      expect.arrayContaining(['200', '400', '401', '413', '415', '429', '500', '503']),
    );
    expect(await operation.textContent()).toContain('The expires in field must not be greater than 2592000.');
    await operation.screenshot({ path: join(PICTURES, `operation-${width}.png`) });
  });

  it('executes an operation', async () => {
    const page = await openDocument(1280);
    await page.getByRole('button', { name: 'Authorize' }).click();
    const { clientId, secret } = service.development;
    const basic = page.locator('.modal-ux .auth-container').first();
    await basic.locator('input[name="username"]').fill(clientId);
    await basic.locator('input[name="password"]').fill(secret);
    await basic.getByRole('button', { name: /Authorize|Apply credentials/ }).click();
    await basic.getByRole('button', { name: 'Close' }).click();

    const operation = page.locator('.opblock', { hasText: '/mcp/tokens/create' });
    await operation.locator('.opblock-summary-control').click();
    const created = page.waitForResponse((response) => response.url().endsWith('/mcp/tokens/create'));
    await operation.getByRole('button', { name: 'Execute' }).click();
    const response = await created;
    expect(response.status()).toBe(200);
    rememberSecret(((await response.json()) as { token: string }).token);
  });
});
