import { documentedPaths } from '../../support/documents/api-document.js';
import { committed } from '../../support/documents/documents.js';
import { UNKNOWN_ID } from '../../support/documents/operations.js';
import { useTestApp } from '../../support/test-app.js';

const OTHER_ORIGIN = 'https://evil.example.com';
const OPEN_PATHS = ['/session/open', '/apply', '/openapi.json', '/openapi-3.0.json', '/openapi.yaml'];
/** With the ID of a client. */
const AGENT_PATHS = [
  '/.well-known/oauth-protected-resource/mcp/{client_id}',
  '/.well-known/oauth-authorization-server/connections/{client_id}',
  '/connections/{client_id}/token',
  '/connections/{client_id}/revoke',
  '/connections/{client_id}/register',
];
const ALL_OPEN = [...OPEN_PATHS, ...AGENT_PATHS];
const EXPOSED_HEADERS = [
  'X-Request-Id',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'Link',
  'WWW-Authenticate',
  'Mcp-Session-Id',
];

// No request reaches this site: the tests send only its origin.
const origin = 'http://127.0.0.1:8080';
const service = useTestApp({ CORS_ORIGINS: `https://app.example.com,${origin}` });

async function send(path: string, method: string, headers: Record<string, string>): Promise<Response> {
  const response = await fetch(`${service.baseUrl}${path}`, { method, headers });
  await response.arrayBuffer();
  return response;
}

const preflight = (path: string, from: string, method = 'POST'): Promise<Response> =>
  send(path, 'OPTIONS', {
    origin: from,
    'access-control-request-method': method,
    'access-control-request-headers': 'content-type',
  });

/** Returns the headers of CORS that the response has. */
const corsHeadersOf = ({ headers }: Response): string[] =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-'));

describe.each(OPEN_PATHS)('Cross-origin requests to %s', (path) => {
  it('are allowed from the configured origins, without cookies', async () => {
    for (const from of ['https://app.example.com', origin]) {
      const { status, headers } = await preflight(path, from);
      expect([status, headers.get('content-length')]).toEqual([204, '0']);
      expect(headers.get('access-control-allow-origin')).toBe(from);
      expect(headers.get('access-control-allow-methods')).toBe('GET,HEAD,POST');
      expect(headers.get('access-control-allow-headers')).toBe('content-type');
      expect(headers.get('access-control-max-age')).toBe('7200');
      expect(headers.get('vary')).toMatch(/\bOrigin\b/);
      expect(headers.has('access-control-allow-credentials')).toBe(false);
      expect(headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/);
    }
  });

  it('show the response and its headers to the page, errors included', async () => {
    const { status, headers } = await send(path, 'GET', { origin });
    expect([200, 405]).toContain(status);
    expect(headers.get('access-control-allow-origin')).toBe(origin);
    expect(headers.get('access-control-expose-headers')).toBe(EXPOSED_HEADERS.join(','));
    expect(headers.get('vary')).toMatch(/\bOrigin\b/);
    expect(headers.has('access-control-allow-credentials')).toBe(false);
  });

  it('are refused from other origins', async () => {
    for (const other of [OTHER_ORIGIN, 'null', `${origin}0`, 'http://app.example.com', '']) {
      const responses = [await preflight(path, other), await send(path, 'GET', { origin: other })];
      for (const { headers } of responses) {
        expect([other, headers.get('access-control-allow-origin')]).toEqual([other, null]);
        expect(headers.get('vary')).toMatch(/\bOrigin\b/);
      }
    }
  });
});

describe('Cross-origin requests to other paths', () => {
  const others = documentedPaths().filter(({ path }) => !ALL_OPEN.includes(path));

  it('are refused for every operation that takes credentials', async () => {
    expect(others.length).toBeGreaterThan(40);
    for (const { path, method } of others) {
      const response = await preflight(path.replaceAll(/\{\w+\}/g, '1'), origin, method.toUpperCase());
      expect([path, response.status, corsHeadersOf(response)]).toEqual([path, 405, []]);
    }
  });

  it.each(AGENT_PATHS)('are allowed for agents (%s)', async (path) => {
    const { status, headers } = await preflight(path.replace('{client_id}', UNKNOWN_ID), origin);
    expect([status, headers.get('access-control-allow-origin')]).toEqual([204, origin]);
  });

  it('are allowed for metadata that does not exist, so that clients look further', async () => {
    for (const path of [
      `/.well-known/openid-configuration/connections/${UNKNOWN_ID}`,
      `/connections/${UNKNOWN_ID}/.well-known/openid-configuration`,
    ]) {
      const { status, headers } = await send(path, 'GET', { origin });
      expect([status, headers.get('access-control-allow-origin')]).toEqual([404, origin]);
    }
  });

  it.each([
    '/mcp/connection-codes',
    '/apply/',
    '/apply/x',
    '/session/openx',
    '/docs',
    '/login',
    '/pages.css',
    '/nowhere',
  ])('are refused for %s', async (path) => {
    for (const response of [await preflight(path, origin), await send(path, 'GET', { origin })])
      expect(corsHeadersOf(response)).toEqual([]);
  });

  it('are allowed only for operations without credentials', () => {
    const open = documentedPaths().filter(({ path }) => ALL_OPEN.includes(path));
    expect(open).toHaveLength(7);
    for (const { path, security } of open) expect([path, security]).toEqual([path, [{}]]);
  });
});

describe('docs/authentication.md', () => {
  const [, section = ''] = committed('docs/authentication.md').split('\n## Requests from web pages\n');
  const [operations = '', headers = ''] = (section.split('\n## ')[0] ?? '').split(
    '\nBrowsers send no cookies',
  );

  it('names the operations that pages of other origins can request', () => {
    const named = [...operations.matchAll(/`(?:GET|POST) (\/[^`]+)`/g)].map(([, path]) => path);
    expect(named.toSorted()).toEqual([...ALL_OPEN, '/mcp', '/mcp/{client_id}'].toSorted());
  });

  it('names the headers that they can read', () => {
    expect([...headers.matchAll(/`([^`]+)`/g)].map(([, name]) => name)).toEqual(EXPOSED_HEADERS);
  });
});

describe('On a machine of a developer', () => {
  const local = useTestApp();
  const allowed = async (path: string, from: string): Promise<string | null> => {
    const response = await fetch(local.baseUrl + path, { headers: { origin: from } });
    await response.arrayBuffer();
    return response.headers.get('access-control-allow-origin');
  };

  it.each([
    'http://localhost:5173',
    'https://app.localhost',
    'http://127.0.0.1',
    'http://[::1]:3000',
    'null',
  ])('pages of %s are allowed by default', async (from) => {
    expect(await allowed('/openapi.json', from)).toBe(from);
    expect(await allowed('/mcp', from)).toBe(from);
  });

  it.each([
    OTHER_ORIGIN,
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example',
    'http://10.0.0.1',
    'file://',
  ])('pages of %s are refused by default', async (from) => {
    expect(await allowed('/openapi.json', from)).toBeNull();
    const response = await fetch(`${local.baseUrl}/mcp`, { method: 'POST', headers: { origin: from } });
    expect(response.status).toBe(403);
  });
});
