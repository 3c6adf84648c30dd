import { errorCatalog } from '../../src/infrastructure/errors/index.js';
import { error, useTestApp } from '../support/test-app.js';

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const NOT_FOUND = error('INVALID_REQUEST', 'NOT_FOUND', 'No operation has this path.');

const service = useTestApp({ DASHBOARD_URL: 'https://dashboard.example.com' });

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
        // Swagger UI reads those that begin with a slash.
        if (url.hash !== '' && !url.hash.startsWith('#/'))
          anchors.push([path, url.pathname, decodeURIComponent(url.hash.slice(1))]);
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

  it('lists operations 1 to 8 of the specification before all others', async () => {
    const { text } = await get('/docs/api');
    const listed = [...text.matchAll(/href="\/docs\/api#\/[^/]+\/(\w+)"/g)].map(([, id]) => id);
    const wanted = [
      'createMcpToken',
      'exchangeDeviceCode',
      'listRequestLogs',
      'listAuditLogs',
      'searchDetectedAccounts',
      'identifyDetectedAccounts',
      'createWebhookEndpoint',
      'submitJobApplication',
    ];
    expect(listed.filter((id) => wanted.includes(id ?? '') || id === 'revokeToken')).toEqual([
      ...wanted,
      'revokeToken',
    ]);
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
    '/docs/assets/..%2fsite.ts',
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
