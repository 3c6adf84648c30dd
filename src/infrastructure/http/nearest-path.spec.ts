import fc from 'fast-check';
import { nearestPath } from './nearest-path.js';

const PATHS = [
  '/apply',
  '/audit_logs',
  '/detected-accounts/search',
  '/detected_accounts/identify',
  '/mcp/tokens/create',
  '/request-logs',
  '/request-logs/:id',
  '/users/:id',
  '/webhook-endpoints',
  '/webhook-endpoints/create',
  '/webhook-endpoints/:id',
  '/webhook-endpoints/:id/test',
];

describe('nearestPath', () => {
  it.each([
    ['/apply/', '/apply'],
    ['/Apply', '/apply'],
    ['/audit-logs', '/audit_logs'],
    ['/detected_accounts/search', '/detected-accounts/search'],
    ['/detected-accounts/identify', '/detected_accounts/identify'],
    ['/mcp/tokens', '/mcp/tokens/create'],
    ['/mcp/token/create', '/mcp/tokens/create'],
    ['/v1/mcp/tokens/create', '/mcp/tokens/create'],
    ['/webhook-endpoints/', '/webhook-endpoints'],
    ['/webhook_endpoint', '/webhook-endpoints'],
    ['/webhook-endpoints/7f1c/tests', '/webhook-endpoints/{id}/test'],
    ['/request-log/8001234', '/request-logs/{id}'],
    ['/user/8001234', '/users/{id}'],
  ])('suggests for %s the path %s', (path, nearest) => expect(nearestPath(path, PATHS)).toBe(nearest));

  it.each([
    '/',
    '//',
    '/nowhere',
    '/.env',
    '/wp-login.php',
    '/constructor',
    '/mcp',
    `/apply${'x'.repeat(99)}`,
  ])('suggests nothing for %s', (path) => expect(nearestPath(path, PATHS)).toBeUndefined());

  it('suggests nothing if 40% of the characters are wrong', () => {
    expect(nearestPath('/abcx', ['/abcd'])).toBe('/abcd');
    expect(nearestPath('/abxy', ['/abcd'])).toBeUndefined();
  });

  it('suggests the first of two paths that are equally similar', () =>
    expect(nearestPath('/session/opeb', ['/session/open', '/session/oped'])).toBe('/session/open'));

  it('suggests only a known path, whatever is requested', () => {
    const suggestions = new Set(PATHS.map((path) => path.replace(':id', '{id}')));
    const path = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.webPath(),
      fc.constantFrom(...PATHS).map((each) => `${each}/:id/{id}`),
    );
    fc.assert(
      fc.property(path, (text) => {
        const nearest = nearestPath(`/${text}`, PATHS);
        expect(nearest === undefined || suggestions.has(nearest)).toBe(true);
      }),
    );
  });
});
