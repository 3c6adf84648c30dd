import { send } from '../../support/http/http.js';
import { useTestApp } from '../../support/test-app.js';

const PROTECTIVE = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};
const PAGE = {
  ...PROTECTIVE,
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-frame-options': 'DENY',
};
/** Responses that may be cached because they are the same for all clients. */
const KEPT = 'public, max-age=300';

const service = useTestApp({ TRUSTED_PROXY_HOPS: '1' });

const get = (path: string) => send(`${service.baseUrl}${path}`);

const headersOf = (headers: Headers, names: Readonly<Record<string, string>>): Record<string, unknown> =>
  Object.fromEntries(Object.keys(names).map((name) => [name, headers.get(name)]));

describe('Every response of the APIs', () => {
  it.each<[string, number, () => Promise<{ status: number; headers: Headers }>]>([
    [
      'a token',
      200,
      () =>
        service.request('/mcp/tokens/create', {
          body: { external_user_id: 'user' },
          as: service.development,
        }),
    ],
    [
      'detected accounts',
      200,
      () =>
        service.request('/detected-accounts/search', {
          body: { external_user_id: 'user', names: ['Netflix'] },
          as: service.development,
        }),
    ],
    ['audit logs', 200, () => service.request('/audit_logs', { as: service.production })],
    ['the dashboard', 200, async () => service.request('/me', { login: await service.login() })],
    ['an application', 400, () => service.request('/apply', { body: {} })],
    ['a request without credentials', 401, () => service.request('/mcp/tokens/create', { body: {} })],
    ['an unknown path', 404, () => service.request('/nowhere')],
    ['another method', 405, () => service.request('/mcp/tokens/create')],
    ['an error of OAuth', 400, () => service.request('/oauth/token', { method: 'POST' })],
    ['readiness', 200, () => service.request('/readyz')],
  ])('forbids caching, framing and execution (%s)', async (_what, status, send) => {
    const response = await send();
    expect(response.status).toBe(status);
    expect(headersOf(response.headers, PROTECTIVE)).toEqual(PROTECTIVE);
    expect(response.headers.has('x-powered-by')).toBe(false);
  });

  it('requires https only if a trusted proxy reports a request over https', async () => {
    const [plain, secure] = await Promise.all(
      ['http', 'https'].map(
        async (scheme) =>
          (await service.request('/healthz', { headers: { 'x-forwarded-proto': scheme } })).headers,
      ),
    );
    expect(plain?.get('strict-transport-security')).toBeNull();
    expect(secure?.get('strict-transport-security')).toBe('max-age=31536000');
  });
});

describe('Public static responses', () => {
  it.each([
    '/.well-known/jwks.json',
    '/.well-known/oauth-authorization-server',
    '/pages.css',
    '/openapi.json',
    '/openapi-3.0.json',
    '/docs',
    '/docs/webhooks',
    '/docs/assets/site.mjs',
  ])('may be cached for five minutes (%s)', async (path) => {
    const { status, headers } = await get(path);
    expect([status, headers.get('cache-control')]).toEqual([200, KEPT]);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('is not cached if it is an error', async () => {
    await service.database.cutOff();
    const failed = await service.request('/.well-known/jwks.json');
    await service.database.reconnect();
    expect([failed.status, failed.headers.get('cache-control')]).toEqual([503, 'no-store']);
    for (const path of ['/docs/nothing', '/openapi.json']) {
      const refused = await service.request(path, { method: 'DELETE' });
      expect([path, refused.headers.get('cache-control')]).toEqual([path, 'no-store']);
    }
  });
});

describe('Pages', () => {
  it.each(['/login', '/account', '/device'])('have their own content security policy (%s)', async (path) => {
    const { headers } = await get(path);
    // The script of the login page uses passkeys.
    const scripts = path === '/login' ? "; script-src 'self'; connect-src 'self'" : '';
    const policy = `${PAGE['content-security-policy']}${scripts}`;
    expect(headersOf(headers, PAGE)).toEqual({ ...PAGE, 'content-security-policy': policy });
  });

  it.each<[path: string, status: number, form: Record<string, string> | undefined]>([
    ['/login', 403, { email: 'a@b.example' }],
    ['/login/second-factor', 403, { code: '1' }],
    ['/login/passkey', 403, {}],
    ['/password-reset/confirm', 400, undefined],
    ['/device', 303, undefined],
    ['/account', 303, undefined],
    ['/dashboard', 303, undefined],
    ['/sso/oidc/x', 403, undefined],
    ['/sso/oidc/x/login', 404, undefined],
    ['/sign-in/x', 404, undefined],
  ])(
    'keep no reference to the windows of other sites, also if they are errors (%s, %d)',
    async (path, status, form) => {
      const response = await send(`${service.baseUrl}${path}`, {
        ...(form && { method: 'POST', body: new URLSearchParams(form) }),
      });
      expect([response.status, response.headers.get('cross-origin-opener-policy')]).toEqual([
        status,
        'same-origin',
      ]);
    },
  );
});
