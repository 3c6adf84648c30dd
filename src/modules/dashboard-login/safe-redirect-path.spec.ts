import { HOME, safeRedirectPath } from './safe-redirect-path.js';

describe('safeRedirectPath', () => {
  it('removes the name of a message', () =>
    expect(safeRedirectPath('/dashboard/users?done=invited&page=2')).toBe('/dashboard/users?page=2'));

  it.each([
    ['/device', '/device'],
    ['/device?code=WDJB-MJHT', '/device?code=WDJB-MJHT'],
    ['/account/../device', '/device'],
    ['/a?next=https://evil.example', '/a?next=https://evil.example'],
    ['/https://evil.example', '/https://evil.example'],
    ['/ü', '/%C3%BC'],
    ['/a\r\nSet-Cookie: b=c', '/aSet-Cookie:%20b=c'],
  ])('reads %j as %j', (next, path) => expect(safeRedirectPath(next)).toBe(path));

  it.each([
    undefined,
    '',
    'device',
    'https://evil.example',
    'https:evil.example',
    'javascript:alert(1)',
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '\\/evil.example',
    '/\t/evil.example',
    '/\n\\evil.example',
    '\t//evil.example',
    ' //evil.example',
    '/a/..//evil.example',
    '/./\\evil.example',
    '/%2e//evil.example',
    '/.//evil.example',
    '//[',
    '/login',
    '/login/second-factor',
    '/logout',
    `/${'a'.repeat(2_000)}`,
    ['/device', '//evil.example'],
  ])('ignores %j', (next) => expect(safeRedirectPath(next)).toBe(HOME));
});
