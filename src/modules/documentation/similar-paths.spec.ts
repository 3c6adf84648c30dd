import { mostSimilar } from './similar-paths.js';

const candidates = [
  '/docs/quickstart',
  '/docs/webhooks',
  '/docs/webhook-events',
  '/mcp/tokens/create',
  '/users',
].map((path) => ({ path }));
const similarTo = (path: string): string[] => mostSimilar(path, candidates, 2).map((found) => found.path);

describe('mostSimilar', () => {
  it.each([
    ['/docs/quikstart', '/docs/quickstart'],
    ['/quick-start', '/docs/quickstart'],
    ['/mcp/token/create', '/mcp/tokens/create'],
    ['/Webhooks', '/docs/webhooks'],
  ])('finds what %s may mean', (path, expected) => expect(similarTo(path)[0]).toBe(expected));

  it.each(['/', '/favicon.ico', '/wp-login.php', `/${'x'.repeat(8_000)}`])(
    'finds nothing for %.20s',
    (path) => expect(similarTo(path)).toEqual([]),
  );

  it('returns at most as many as requested', () => expect(similarTo('/docs/webhook')).toHaveLength(2));
});
