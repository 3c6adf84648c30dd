import { isPublicHttpsUrl } from './public-https-url.js';

describe('A public https URL', () => {
  it.each([
    'https://example.com',
    'HTTPS://Example.COM:8443/hook?a=b#c',
    'https://bücher.example/ä',
    'https://a.b.c.d.example.co.uk/',
    'https://localhost.example.com/',
  ])('is %s', (url) => expect(isPublicHttpsUrl(url)).toBe(true));

  it.each([
    '',
    'example.com',
    '//example.com',
    'http://example.com',
    'ftp://example.com',
    'https:example.com',
    'https:/example.com',
    'https:\\\\example.com',
    'https://example.com\\@evil.example',
    ' https://example.com',
    'https://exam\nple.com',
    'https://example.com:0x1/',
    'https://example.com:65536/',
    'https://user@example.com/',
    'https://user:secret@example.com/',
    'https://:secret@example.com/',
    'https://localhost/',
    'https://a.localhost/',
    'https://localhost./',
    'https://example.com./',
    'https://hooks/',
    'https://127.0.0.1/',
    'https://8.8.8.8/',
    'https://0x7f.1/',
    'https://2130706433/',
    'https://①②⑦.0.0.1/',
    'https://127.1/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[2606:4700::1111]/',
    'https:///hook',
    'https://',
    'https://exa mple.com/',
    'https://example..com/',
    'javascript:alert(1)',
  ])('is not "%s"', (url) => expect(isPublicHttpsUrl(url)).toBe(false));
});
