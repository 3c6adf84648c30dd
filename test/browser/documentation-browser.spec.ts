import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CDPSession, Locator, Page } from 'playwright-core';
import { describeInBrowser, inspect, tabTo, type WindowOptions } from '../support/pages/browser.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import { useTestApp } from '../support/test-app.js';
import { HOUR } from '../../src/infrastructure/time/index.js';

/** Bytes that the search and the pages that it leads to may transfer, with all their files. */
const MAX_TRANSFER = 250_000;
/** Bytes that a page of the reference may transfer, and those of its scripts. */
const MAX_PAGE = 40_000;
const MAX_SCRIPTS = 10_000;
/** Elements that a phone lays out without a delay that one notices. */
const MAX_ELEMENTS = 9_000;

type DocumentedItems = Record<string, Record<string, { operationId: string }>>;
const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8')) as {
  paths: DocumentedItems;
  webhooks: DocumentedItems;
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

  it('finds sections and operations with the keyboard alone, and transfers less than 250 KB', async () => {
    const { page, transferred } = await measured('/docs');
    await page.keyboard.press('/');
    await page.keyboard.type('standard webhoks');
    await page.locator('.results a').first().waitFor();
    await eventually('the search is transferred', () => transferred() > 50_000);
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
    await page.waitForURL(/\/docs\/api\/detected-accounts#searchDetectedAccounts$/);

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
    await page.waitForURL(`${service.baseUrl}/docs/errors`);
    await page.getByRole('link', { name: 'INVALID_FIELD', exact: true }).first().click();
    await page.waitForURL(`${service.baseUrl}/docs/errors#invalid_field`);
    await page.goto('/docs/api');
    expect(await page.locator('main').textContent()).toContain('POST /mcp/tokens/create');
  });

  it('shows a program in the chosen language, without scripts and with the keyboard alone', async () => {
    const page = await windows.open(service.baseUrl, { javaScript: false });
    await page.goto('/docs/webhooks');
    const tabs = page.locator('.tabs').first();
    const shown = (): Promise<string[]> => tabs.locator('.tab:visible pre').allTextContents();
    expect(await shown()).toEqual([expect.stringContaining('// receiver.mjs')]);
    await tabs.getByText('Python', { exact: true }).click();
    expect(await shown()).toEqual([expect.stringContaining('# receiver.py')]);
    await page.keyboard.press('ArrowLeft');
    expect(await shown()).toEqual([expect.stringContaining('// receiver.mjs')]);
    expect(await tabs.getByRole('radio', { name: 'JavaScript' }).isChecked()).toBe(true);
  });

  it('copies commands', async () => {
    const page = await windows.open(service.baseUrl);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    // The button says only for two seconds that it has copied.
    await page.clock.install();
    await page.goto('/docs/quickstart');
    await page.clock.pauseAt(Date.now() + HOUR);
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
    ['tabs', '/docs/quickstart'],
    ['errors', '/docs/errors'],
    ['unknown', '/docs/nothing'],
    ['search', '/docs', search],
  ];
  const looks = views.map(([view, path, prepare]) => ({ view, path, prepare }));

  it.each(looks)('is accessible at all widths, in both schemes ($view)', async ({ view, path, prepare }) => {
    const page = await windows.open(service.baseUrl, { bypassPolicy: true });
    await page.goto(path);
    await prepare?.(page);
    expect(await inspect(page, `docs-${view}`, { isLayout: view === 'home' })).toEqual([]);
  });
});

describeInBrowser('The API reference', (windows) => {
  const PHONE = { width: 390, height: 844 };
  const open = async (path: string, options: WindowOptions = {}): Promise<Page> => {
    const page = await windows.open(service.baseUrl, options);
    await page.goto(path);
    return page;
  };
  /** Opens the form of an operation. */
  const tryIt = async (page: Page, id: string): Promise<Locator> => {
    const panel = page.locator('section', { has: page.locator(`h2#${id}`) }).locator('.try');
    await panel.locator('summary').first().click();
    return panel;
  };

  it('transfers at most 40 KB for each page, of which scripts have at most 10 KB', async () => {
    const { topics } = await described();
    for (const path of ['/docs/api', ...topics]) {
      const page = await windows.open(service.baseUrl);
      const session = await page.context().newCDPSession(page);
      const types = new Map<string, string>();
      const bytes = { Script: 0, all: 0 };
      session.on('Network.responseReceived', ({ requestId, type }) => types.set(requestId, type));
      session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
        bytes.all += encodedDataLength;
        if (types.get(requestId) === 'Script') bytes.Script += encodedDataLength;
      });
      await session.send('Network.enable');
      await page.goto(path);
      await page.waitForLoadState('networkidle');
      const elements = Number(await page.evaluate('document.querySelectorAll("*").length'));
      await page.close();
      expect([path, bytes.all > 10_000]).toEqual([path, true]);
      expect([path, Math.max(bytes.all, MAX_PAGE)]).toEqual([path, MAX_PAGE]);
      expect([path, Math.max(bytes.Script, MAX_SCRIPTS)]).toEqual([path, MAX_SCRIPTS]);
      expect([path, Math.max(elements, MAX_ELEMENTS)]).toEqual([path, MAX_ELEMENTS]);
    }
  });

  it('shows every operation and every webhook on the page of its topic, without scripts', async () => {
    const { topics, ids } = await described();
    const found: (string | null)[] = [];
    const page = await windows.open(service.baseUrl, { javaScript: false, size: PHONE });
    for (const path of topics) {
      await page.goto(path);
      found.push(
        ...(await page.locator('section.operation h2').evaluateAll((all) => all.map(({ id }) => id))),
      );
    }
    expect(found.toSorted()).toEqual(ids.toSorted());

    await page.goto('/docs/api/mcp-tokens#createMcpToken');
    const main = page.locator('main');
    expect(await main.textContent()).toContain('at the start of each agent session');
    const statuses = await main.locator('.response > summary > b').allTextContents();
    expect(statuses).toEqual(['200', '400', '401', '403', '409', '413', '415', '429', '500', '503']);
    const refusal = main.locator('.response', { hasText: 'INVALID_FIELD' });
    await refusal.locator('summary').first().click();
    await refusal.getByText('Supported: US, CA.').first().waitFor();
    await refusal.getByRole('link', { name: 'INVALID_FIELD' }).click();
    await page.waitForURL(`${service.baseUrl}/docs/errors#invalid_field`);
    await page.goBack();
    expect(await page.locator('.try').first().isVisible()).toBe(false);
    await page.locator('.tabs').getByText('Python', { exact: true }).click();
    await page.locator('.tab:visible').getByText('create_mcp_token').first().waitFor();
    await page.getByRole('button', { name: 'Menu' }).click();
    const topic = page.locator('#navigation details', { hasText: 'Webhook endpoints' }).first();
    await topic.locator('summary').click();
    await topic.getByRole('link', { name: 'Create webhook endpoint' }).click();
    await page.waitForURL(`${service.baseUrl}/docs/api/webhook-endpoints#createWebhookEndpoint`);
  });

  it.each([
    ['#/Platform%20API%20%C2%B7%20MCP%20tokens/createMcpToken', 'mcp-tokens#createMcpToken'],
    ['#/Platform%20API%20%C2%B7%20Sandbox', 'sandbox'],
    ['#createWebhookEndpoint', 'webhook-endpoints#createWebhookEndpoint'],
    ['#receiveCardUpdatedWebhook', 'webhooks#receiveCardUpdatedWebhook'],
    ['#GET%20/request-logs/8001234', 'request-logs#getRequestLog'],
    ['#POST%20/mcp/tokens/create', 'mcp-tokens#createMcpToken'],
  ])('leads from %s to the page of the operation', async (hash, expected) => {
    const page = await open(`/docs/api${hash}`);
    await page.waitForURL(`**/docs/api/${expected}`);
    const [, id] = expected.split('#');
    if (id) await page.locator(`h2#${id}`).waitFor();
  });

  it('stays on the overview if the hash names one of its sections or nothing', async () => {
    const page = await open('/docs/api#conventions');
    await page.locator('#conventions').waitFor();
    await page.goto('/docs/api#unknown');
    expect(new URL(page.url()).pathname).toBe('/docs/api');
  });

  it('filters the operations by words of their summary, path and topic', async () => {
    const page = await open('/docs/api');
    const list = page.locator('main [data-filtered]');
    await list.getByLabel('Filter operations').fill('post token create');
    expect(await list.locator('li:visible').allTextContents()).toEqual([
      expect.stringContaining('/mcp/tokens/create'),
    ]);
    const navigation = page.locator('#navigation');
    await navigation.getByLabel('Filter operations').fill('card_updated');
    expect(await navigation.locator('li:visible').allTextContents()).toEqual(['Card updated']);
    await navigation.getByLabel('Filter operations').fill('');
    expect(await navigation.locator('li:visible').count()).toBe(0);
  });

  it('sends a request with the example, and keeps the credentials only in the memory of the page', async () => {
    const page = await open('/docs/api/mcp-tokens');
    const panel = await tryIt(page, 'createMcpToken');
    await panel.getByRole('button', { name: 'Send request' }).click();
    await panel.getByText('401 Unauthorized').waitFor();
    await panel.getByLabel('Client ID').fill(service.development.clientId);
    await panel.getByLabel('Secret or API key').fill(service.development.secret);
    const created = page.waitForResponse((response) => response.url().endsWith('/mcp/tokens/create'));
    await panel.getByRole('button', { name: 'Send request' }).click();
    const response = await created;
    rememberSecret(((await response.json()) as { token: string }).token);
    await panel.getByText('200 OK').waitFor();
    expect(response.request().postDataJSON()).toEqual({
      external_user_id: 'user-8f3a',
      expires_in: 3600,
      phone_number: '+12125550123',
    });
    const answer = panel.locator('.answer');
    // The body arrives after the status.
    await answer.getByText('"token": "mcp_dev_').waitFor();
    await answer.getByText('Headers').click();
    await answer.getByText(/x-request-id: /).waitFor();

    await panel.getByLabel('expires_in').fill('5');
    await panel.getByRole('button', { name: 'Send request' }).click();
    await panel.getByText('400 Bad Request').waitFor();
    await answer.getByText('The expires in field must be at least 60.').waitFor();
    await panel.getByLabel('expires_in').fill('an hour');
    await panel.getByRole('button', { name: 'Send request' }).click();
    expect(
      await panel.getByLabel('expires_in').evaluate((field: HTMLInputElement) => field.validationMessage),
    ).toContain('Enter JSON');

    expect(await page.evaluate('[localStorage.length, sessionStorage.length]')).toEqual([0, 0]);
    expect(await page.context().cookies()).toEqual([]);
    await page.reload();
    const again = await tryIt(page, 'createMcpToken');
    expect(await again.getByLabel('Secret or API key').inputValue()).toBe('');
  });

  it('uses the credentials for all operations of the page, with their parameters, and stops streams', async () => {
    const page = await open('/docs/api/sandbox');
    const link = await tryIt(page, 'linkSandboxAccount');
    await link.getByLabel('Client ID').fill(service.development.clientId);
    await link.getByLabel('Secret or API key').fill(service.development.secret);
    const stream = await tryIt(page, 'streamWebhooks');
    await stream.getByRole('button', { name: 'Send request' }).click();
    await stream.getByText('200 OK').waitFor();
    await stream.getByRole('button', { name: 'Stop' }).click();
    await stream.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' });
  });

  it('sends path and query parameters, and forms', async () => {
    const page = await open('/docs/api/external-users');
    const panel = await tryIt(page, 'getUserErasure');
    await panel.getByLabel('external_user_id').fill('nobody/else');
    const sent = page.waitForRequest((request) => request.url().includes('/external-users/'));
    await panel.getByRole('button', { name: 'Send request' }).click();
    expect(new URL((await sent).url()).pathname).toBe('/external-users/nobody%2Felse/erasure');
    for (const missing of ['', '.', '..']) {
      await panel.getByLabel('external_user_id').fill(missing);
      await panel.getByRole('button', { name: 'Send request' }).click();
      expect(
        await panel
          .getByLabel('external_user_id')
          .evaluate((field: HTMLInputElement) => field.validationMessage),
      ).toBe('Enter a value other than “.” and “..”.');
    }
    const query = await tryIt(page, 'findUserErasure');
    await query.getByLabel('external_user_id').fill('user 1');
    const found = page.waitForRequest((request) => request.url().includes('/external-users/erasure?'));
    await query.getByRole('button', { name: 'Send request' }).click();
    expect(new URL((await found).url()).search).toBe('?external_user_id=user+1');
  });

  it('sends each value of a parameter, also after an address that is malformed', async () => {
    const page = await open('/docs/api/webhook-events#100%');
    const panel = await tryIt(page, 'readWebhookEvents');
    await panel.getByLabel('event', { exact: true }).fill('["AUTHENTICATED", "SIGN_IN_LINK_FAILED"]');
    const sent = page.waitForRequest((request) => request.url().includes('/webhook-events?'));
    await panel.getByRole('button', { name: 'Send request' }).click();
    expect(new URL((await sent).url()).searchParams.getAll('event')).toEqual([
      'AUTHENTICATED',
      'SIGN_IN_LINK_FAILED',
    ]);
  });

  it('leads to the address of a surface that has its own instead of sending requests there', async () => {
    const page = await open('/docs/api/token-management');
    const panel = await tryIt(page, 'getCurrentUser');
    expect(await panel.getByRole('button', { name: 'Send request' }).isVisible()).toBe(false);
    expect(await panel.getByRole('link', { name: 'try it there' }).getAttribute('href')).toBe(
      'https://dashboard.example.com/docs/api/token-management#getCurrentUser',
    );
    await page.goto('/docs/api');
    const link = page.getByRole('link', { name: 'Dashboard API', exact: true });
    expect(await link.getAttribute('href')).toBe('https://dashboard.example.com/docs/api');
  });

  const forms = async (page: Page): Promise<void> => {
    await page.locator('details').evaluateAll((all) => all.forEach((each) => each.setAttribute('open', '')));
  };
  it.each([
    { view: 'overview', path: '/docs/api', prepare: undefined },
    { view: 'tokens', path: '/docs/api/mcp-tokens', prepare: undefined },
    { view: 'endpoints', path: '/docs/api/webhook-endpoints', prepare: undefined },
    { view: 'webhooks', path: '/docs/api/webhooks', prepare: undefined },
    { view: 'everything-open', path: '/docs/api/events', prepare: forms },
    { view: 'form', path: '/docs/api/mcp-tokens', prepare: forms },
  ])('is accessible at all widths, in both schemes ($view)', async ({ view, path, prepare }) => {
    const page = await windows.open(service.baseUrl, { bypassPolicy: true });
    await page.goto(path);
    await prepare?.(page);
    expect(await inspect(page, `reference-${view}`, { isLayout: view === 'tokens' })).toEqual([]);
  });
});

/** Returns the paths of the topics, as the overview links to them, and the names of all operations and webhooks. */
async function described(): Promise<{ topics: string[]; ids: string[] }> {
  const { text } = await send(`${service.baseUrl}/docs/api`);
  const topics = [...text.matchAll(/<h2><a href="([^"]+)"/g)].map(([, path = '']) => path);
  const operations = [document.paths, document.webhooks].flatMap((items) =>
    Object.values(items).flatMap((item) => Object.values(item)),
  );
  return { topics, ids: operations.map(({ operationId }) => operationId) };
}
