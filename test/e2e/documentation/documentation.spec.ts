import { errorCatalog } from '../../../src/infrastructure/errors/index.js';
import { error, useTestApp } from '../../support/test-app.js';

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const NOT_FOUND = error('INVALID_REQUEST', 'NOT_FOUND', 'No operation has this path.');

/** The headers that responses depend on, besides the encoding: Markdown for agents, and pages of other origins. */
const VARY = [
  ['/docs/assets', 'Accept-Encoding'],
  ['/docs', 'Accept, Accept-Encoding'],
  ['/openapi', 'Origin, Accept-Encoding'],
] as const;

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

  it('lists operations 1 to 8 of the specification before all others', async () => {
    const { text } = await get('/docs/api');
    const main = text.slice(text.indexOf('<main'));
    const listed = [...main.matchAll(/href="\/docs\/api\/[\w-]+#(\w+)"/g)].map(([, id]) => id);
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

  it('has each page as Markdown, which llms.txt lists', async () => {
    const { headers, text: list } = await get('/docs/llms.txt');
    expect(headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(list).toMatch(/^# Merchant Connectivity Service\n\n> /);
    const pages = [...list.matchAll(/^- \[[^\]]+\]\(([^)]+)\): ./gm)].map(
      ([, url = '']) => new URL(url).pathname,
    );
    expect(pages).toEqual(
      expect.arrayContaining([
        '/docs/event-feed.md',
        '/docs/api.md',
        '/docs/api/mcp-tokens.md',
        '/docs/api/webhooks.md',
        '/docs/changelog.md',
      ]),
    );
    expect(list).toContain('/openapi.json)');
    for (const path of pages) {
      const { status, headers: given, text } = await get(path);
      expect([path, status, given.get('content-type')]).toEqual([path, 200, 'text/markdown; charset=utf-8']);
      expect(text).toMatch(/^# \w/);
      expect(text).not.toContain('<!--');
      const page = await get(path.replace('.md', ''));
      expect(page.text).toContain(`<link rel="alternate" type="text/markdown" href="${path}"/>`);
      for (const [, target = ''] of text.matchAll(/\]\((\/[^)#]*)/g))
        expect([path, target, (await get(target)).status]).toEqual([path, target, 200]);
    }
  });

  it.each([
    ['How do I verify a webhook in Go?', 'receivers', /\n## receiver\.go\n\n```go\n[^]*\nfunc Verify\(/],
    ['When is a failed webhook sent again?', 'webhooks', /about 3 minutes after the first attempt/],
    ['For how long is a response repeated?', 'retrying', /keeps the response for 24 hours/],
    ['How many requests may I send?', 'retrying', /6,000 per minute and client/],
    [
      'How many requests may I send to this deployment?',
      'api',
      /platform API accepts \d+ requests per minute per client/,
    ],
    ['Which scopes does a CI job need?', 'continuous-integration', /`webhook_endpoints:write`/],
    ['Which events did my endpoint miss?', 'event-feed', /\n## Find what an endpoint missed\n/],
    ['What do I do on 410?', 'event-feed', /410[^]*Continue with the `oldest_cursor`/],
    ['How do I erase a user?', 'erasing-users', /-X DELETE \$base_url\/external-users\//],
    ['Which phone numbers does the sandbox accept?', 'sandbox', /[Aa]ny valid number of the US or\sCanada/],
    ['How do I rotate a secret?', 'authentication', /\n### Rotate a secret\n/],
    ['How does a program without a browser log in?', 'device-flow', /\/oauth\/device\/code/],
    ['How do I create a link without a phone?', 'sign-in-links', /by logging in on your login page/],
  ])('answers “%s” in Markdown, in a page that llms.txt lists', async (_question, name, answer) => {
    expect((await get('/docs/llms.txt')).text).toContain(`/docs/${name}.md): `);
    expect((await get(`/docs/${name}.md`)).text).toMatch(answer);
  });

  it('prefers HTML, and gives agents that ask for it Markdown at the same address', async () => {
    const markdown = await get('/docs/event-feed', { accept: 'text/markdown, text/html;q=0.5' });
    expect(markdown.text).toBe((await get('/docs/event-feed.md')).text);
    expect(markdown.headers.get('vary')).toBe('Accept, Accept-Encoding');
    for (const accept of [BROWSER.accept, '*/*', 'text/*'])
      expect((await get('/docs/event-feed', { accept })).headers.get('content-type')).toMatch(/^text\/html/);
    expect(markdown.text).toMatch(/\nLast changed: 20\d\d-\d\d-\d\d\n$/);
    expect((await get('/docs/event-feed')).text).toMatch(/<time datetime="20\d\d-\d\d-\d\d">\w+ \d+, 20/);
    for (const path of ['/docs/nonsense.md', '/docs/operations.md'])
      expect((await get(path, { accept: 'text/markdown' })).status).toBe(404);
  });

  it('has no security.txt unless the operator has set how to reach support', async () => {
    expect((await get('/.well-known/security.txt')).status).toBe(404);
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
    '/docs/api/webhook-endpoints',
    '/docs/assets/reference.mjs',
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
        VARY.find(([beginning]) => path.startsWith(beginning))?.[1] ?? 'Accept-Encoding',
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
    '/docs/api/nothing',
    '/docs/api/nothing.md',
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
      ['/webhook-event', '/docs/webhook-events'],
      ['/mcp/token/create', '/docs/api/mcp-tokens#createMcpToken'],
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

describe('/.well-known/security.txt', () => {
  const supported = useTestApp({
    SUPPORT_EMAIL: 'help@example.com',
    SUPPORT_URL: 'https://help.example.com/',
    PLATFORM_URL: 'https://api.example.com',
  });

  it('says whom to tell about security problems, and expires within a year', async () => {
    const response = await fetch(`${supported.baseUrl}/.well-known/security.txt`);
    const text = await response.text();
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/plain; charset=utf-8',
    ]);
    const [, expires = ''] = /^Expires: (.+)$/m.exec(text) ?? [];
    expect(text.replace(expires, '…')).toBe(
      'Contact: mailto:help@example.com\nContact: https://help.example.com/\nExpires: …\nPreferred-Languages: en\n' +
        'Canonical: https://api.example.com/.well-known/security.txt\n',
    );
    expect(expires).toMatch(/^\d{4}-\d\d-\d\dT00:00:00Z$/);
    const days = (Date.parse(expires) - Date.now()) / 86_400_000;
    expect([days > 80, days < 365]).toEqual([true, true]);
  });
});
