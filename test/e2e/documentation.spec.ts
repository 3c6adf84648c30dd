import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { CDPSession, Locator, Page } from 'playwright-core';
import { errorCatalog } from '../../src/infrastructure/errors/index.js';
import { describeInBrowser, inspect, tabTo } from '../support/browser.js';
import { rememberSecret } from '../support/run-directory.js';
import { error, startTestApp, type TestApp } from '../support/test-app.js';

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const NOT_FOUND = error('INVALID_REQUEST', 'NOT_FOUND', 'No operation has this path.');
/** Bytes that a page may transfer, with all its files. */
const MAX_TRANSFER = 600_000;

const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8')) as {
  tags: { name: string }[];
  webhooks: Record<string, unknown>;
};

let service: TestApp;

beforeAll(async () => {
  service = await startTestApp({ DASHBOARD_URL: 'https://dashboard.example.com' });
});
afterAll(() => service.close());

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

async function get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(service.baseUrl + path, { redirect: 'manual', headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Returns the links and files of a page on this host. */
const targetsIn = (html: string): string[] =>
  [...html.matchAll(/\b(?:href|src)="([^"]+)"/g)]
    .map(([, target = '']) => target.replaceAll('&amp;', '&'))
    .filter((target) => !/^(?:https?|data):/.test(target));

describe('The documentation site', () => {
  it('is not where / leads if the process serves the dashboard', async () => {
    for (const accept of [BROWSER.accept, '*/*']) {
      const { status, headers } = await get('/', { accept });
      expect([status, headers.get('location')]).toEqual([302, '/dashboard']);
    }
  });

  it('gives the API reference the whole width, and guides a narrow column', async () => {
    const bodyOf = async (path: string) => /<body[^>]*>/.exec((await get(path)).text)?.[0];
    expect(await bodyOf('/docs/api')).toBe('<body class="wide">');
    expect(await bodyOf('/docs/webhooks')).toBe('<body>');
  });

  it('offers the packages for integrators, with the commands that install them', async () => {
    const pages = await Promise.all(['typescript', 'command-line'].map((name) => get(`/docs/${name}`)));
    const urls = pages.map(
      ({ text }) => /http:[\w:/.-]+\.tgz/.exec(text.replaceAll(/<[^>]+>/g, ''))?.[0] ?? '',
    );
    const page = await get('/docs/downloads');
    const sums = await get('/docs/downloads/SHA256SUMS');
    for (const url of urls) expect([page.status, page.text]).toEqual([200, expect.stringContaining(url)]);
    for (const url of urls) {
      expect(url).toMatch(
        new RegExp(`^${service.baseUrl}/docs/downloads/merchant-connectivity-\\w+-[\\d.]+\\.tgz$`),
      );
      const response = await fetch(url);
      const bytes = Buffer.from(await response.arrayBuffer());
      expect([response.headers.get('content-type'), response.headers.get('content-encoding')]).toEqual([
        'application/gzip',
        null,
      ]);
      const sum = createHash('sha256').update(bytes).digest('hex');
      expect(sums.text).toContain(`${sum}  ${url.split('/').at(-1)}\n`);
      expect(page.text).toContain(sum);
    }
    const folder = mkdtempSync(join(tmpdir(), 'installed-'));
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    const npm = ['install', '--no-audit', '--no-fund', '--cache', join(folder, 'cache'), ...urls];
    await promisify(execFile)('npm', npm, { cwd: folder });
    const run = (file: string, ...words: string[]) => promisify(execFile)(file, words, { cwd: folder });
    expect((await run('node_modules/.bin/mcs', '--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    const code = "console.log(typeof require('@merchant-connectivity/sdk').webhooks.verify)";
    expect((await run(process.execPath, '-e', code)).stdout).toBe('function\n');
    for (const name of ['sdk', 'cli'])
      expect(existsSync(join(folder, `node_modules/@merchant-connectivity/${name}/README.md`))).toBe(true);
    rmSync(folder, { recursive: true });
    for (const name of ['.built-from', 'other.tgz', '..%2f..%2fpackage.json'])
      expect([name, (await get(`/docs/downloads/${name}`)).status]).toEqual([name, 404]);
  }, 30_000);

  it('has no broken link, loads nothing from other hosts, and has the API document', async () => {
    const pages = new Map<string, string>();
    const waiting = ['/docs'];
    const anchors: [from: string, path: string, anchor: string][] = [];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      const { status, headers, text } = await get(path);
      expect([path, status]).toEqual([path, 200]);
      pages.set(path, text);
      if (!headers.get('content-type')?.startsWith('text/html')) continue;
      for (const target of targetsIn(text)) {
        const url = new URL(target, service.baseUrl + path);
        if (url.hash !== '') anchors.push([path, url.pathname, decodeURIComponent(url.hash.slice(1))]);
        if (!pages.has(url.pathname) && !waiting.includes(url.pathname)) waiting.push(url.pathname);
      }
      expect(text).not.toMatch(/\b(?:src|srcset)="(?:https?:)?\/\/|<link[^>]+href="(?:https?:)?\/\//);
    }
    expect(pages.size).toBeGreaterThan(20);
    expect([...pages.keys()]).toEqual(
      expect.arrayContaining(['/docs/api', '/openapi.json', '/docs/changelog']),
    );
    const missing = anchors.filter(([, path, anchor]) => !pages.get(path)?.includes(` id="${anchor}"`));
    expect(missing).toEqual([]);
  });

  it('has an anchor for each error code, in lower case', async () => {
    const { text } = await get('/docs/errors');
    const codes = [...new Set(errorCatalog().map(({ code }) => code.toLowerCase()))];
    expect(codes.length).toBeGreaterThan(20);
    expect(codes.filter((code) => !text.includes(`<h2 id="${code}">`))).toEqual([]);
  });

  it.each([
    '/docs',
    '/docs/webhooks',
    '/docs/api',
    '/docs/assets/swagger-ui-bundle.js',
    '/pages.css',
    '/openapi.json',
    '/openapi-3.0.json',
    '/openapi.yaml',
  ])('is compressed, with an entity tag for each encoding (%s)', async (path) => {
    const plain = await get(path, { 'accept-encoding': 'identity' });
    expect(plain.headers.get('content-encoding')).toBeNull();
    const tags = new Set([plain.headers.get('etag')]);
    for (const [accepted, encoding] of [
      ['gzip, deflate, br, zstd', 'br'],
      ['gzip', 'gzip'],
      ['br;q=0, gzip', 'gzip'],
    ] as const) {
      const { status, headers, text } = await get(path, { 'accept-encoding': accepted });
      expect([status, headers.get('content-encoding'), headers.get('vary')]).toEqual([
        200,
        encoding,
        'Accept-Encoding',
      ]);
      expect(text).toBe(plain.text);
      expect(Number(headers.get('content-length'))).toBeLessThan(plain.text.length / 2);
      const etag = headers.get('etag') ?? '';
      tags.add(etag);
      // With a condition, fetch would demand a fresh response by default.
      const unchanged = await get(path, {
        'accept-encoding': accepted,
        'if-none-match': etag,
        'cache-control': 'max-age=0',
      });
      expect([unchanged.status, unchanged.text]).toEqual([304, '']);
    }
    expect(tags.size).toBe(3);
  });

  it.each([
    '/docs/nothing',
    '/docs/security',
    '/docs/constructor',
    '/docs/..%2f..%2fpackage.json',
    '/docs/assets/nothing.css',
    '/docs/assets/constructor',
    '/docs/assets/..%2fsite-files.ts',
  ])('has no %s', async (path) => {
    expect((await service.request(path)).body).toEqual(NOT_FOUND);
  });
});

describe('Unknown paths', () => {
  it('are a page for a browser, with links to what the path may mean', async () => {
    for (const [path, suggestion] of [
      ['/docs/quikstart', '/docs/quickstart'],
      ['/webhook-events', '/docs/webhook-events'],
      ['/mcp/token/create', '/docs/api#/'],
    ] as const) {
      const { status, headers, text } = await get(path, BROWSER);
      expect([path, status, headers.get('content-type')]).toEqual([path, 404, 'text/html; charset=utf-8']);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; script-src 'self'; style-src 'self';/,
      );
      const main = text.slice(text.indexOf('<main'));
      expect(main).toContain(`href="${suggestion}`);
      expect(main).toContain('href="/docs"');
    }
  });

  it.each([
    ['/docs/', '/docs'],
    ['/docs/errors/', '/docs/errors'],
  ])('of the site lose a slash at the end (%s)', async (path, location) => {
    const { status, headers } = await get(path, BROWSER);
    expect([status, headers.get('location')]).toEqual([302, location]);
  });

  it('never show the path itself', async () => {
    const { text } = await get('/"><script>alert(1)</script>', BROWSER);
    expect(text).not.toContain('alert(1)');
  });

  it.each(['*/*', 'application/json', 'application/json, text/html;q=0.5'])(
    'are JSON for a program that accepts %s',
    async (accept) => {
      expect((await service.request('/nowhere', { headers: { accept } })).body).toEqual(NOT_FOUND);
    },
  );

  it('are no page if another method or credentials are missing', async () => {
    const wrongMethod = await get('/mcp/tokens/create', BROWSER);
    expect([wrongMethod.status, wrongMethod.headers.get('allow')]).toEqual([405, 'POST']);
    expect(wrongMethod.text).toContain('POST /mcp/tokens/create</a>');
    const denied = await get('/request-logs', BROWSER);
    expect([denied.status, denied.headers.get('content-type')]).toEqual([
      401,
      'application/json; charset=utf-8',
    ]);
  });
});

describeInBrowser('The documentation in a browser', (windows) => {
  afterAll(() => expect(windows.findings).toEqual([]));

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

  it('transfers less than 600 KB, with the search and the API reference', async () => {
    const { page, transferred } = await measured('/docs');
    await page.getByRole('searchbox').fill('webhook');
    await page.locator('.results a').first().waitFor();
    expect(transferred()).toBeGreaterThan(50_000);
    await page.getByRole('link', { name: 'API reference' }).first().click();
    await page.locator('.opblock').first().waitFor();
    await page.waitForLoadState('networkidle');
    expect(transferred()).toBeLessThan(MAX_TRANSFER);
  });

  it('finds sections and operations with the keyboard alone', async () => {
    const page = await windows.open(service.baseUrl);
    await page.goto('/docs');
    await page.keyboard.press('/');
    await page.keyboard.type('standard webhoks');
    await page.locator('.results a').first().waitFor();
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
    await opened.waitFor({ timeout: 45_000 });
    expect(await opened.locator('.opblock-summary-path').textContent()).toContain('search');

    await page.keyboard.press('/');
    await page.keyboard.type('xyzzy');
    await page.getByText('No results for “xyzzy”.').waitFor();
    await page.keyboard.press('Escape');
    expect(await page.locator('.results').isVisible()).toBe(false);
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
    ['api', '/docs/api', (page) => page.locator('.opblock').first().waitFor()],
  ];
  const looks = views.map(([view, path, prepare]) => ({ view, path, prepare }));

  it.each(looks)('is accessible at all widths, in both schemes ($view)', async ({ view, path, prepare }) => {
    const page = await windows.open(service.baseUrl, { bypassPolicy: true });
    await page.goto(path);
    await prepare?.(page);
    // Swagger UI is what its authors made it.
    expect(await inspect(page, `docs-${view}`, '.swagger-ui')).toEqual([]);
  });
});

describeInBrowser('The API reference', (windows) => {
  afterAll(() => expect(windows.findings).toEqual([]));

  const openReference = async (width: number): Promise<Page> => {
    const page = await windows.open(service.baseUrl, { size: { width, height: 900 } });
    await page.goto('/docs/api');
    await page.locator('.opblock').first().waitFor();
    return page;
  };
  const open = async (page: Page, text: string): Promise<Locator> => {
    const operation = page.locator('.opblock', { hasText: text });
    await operation.locator('.opblock-summary-control').click();
    await operation.locator('.responses-table').first().waitFor();
    return operation;
  };

  it('lists operations by surface and topic, and the webhooks, on a phone', async () => {
    const page = await openReference(390);
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

    const operation = await open(page, '/mcp/tokens/create');
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
    const page = await openReference(1280);
    await page.getByRole('button', { name: 'Authorize' }).click();
    const { clientId, secret } = service.development;
    const basic = page.locator('.modal-ux .auth-container').first();
    await basic.locator('input[name="username"]').fill(clientId);
    await basic.locator('input[name="password"]').fill(secret);
    await basic.getByRole('button', { name: /Authorize|Apply credentials/ }).click();
    await basic.getByRole('button', { name: 'Close' }).click();

    const own = await open(page, '/mcp/tokens/create');
    const created = page.waitForResponse((response) => response.url().endsWith('/mcp/tokens/create'));
    await own.getByRole('button', { name: 'Execute' }).click();
    const response = await created;
    expect(response.status()).toBe(200);
    rememberSecret(((await response.json()) as { token: string }).token);

    const other = await open(page, 'Get current user');
    expect(await other.getByRole('button', { name: /Execute|Try it out/ }).count()).toBe(0);
    expect(await other.locator('.servers').textContent()).toContain('Dashboard API');
    const link = page.getByRole('link', { name: 'Dashboard API', exact: true });
    expect(await link.getAttribute('href')).toBe('https://dashboard.example.com/docs/api');
  });
});
