import { domainName } from './domain-name.js';

describe('domainName', () => {
  it.each([
    ['example.com', 'example.com'],
    ['EXAMPLE.Com', 'example.com'],
    ['mail.example.co.uk', 'mail.example.co.uk'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['BÜCHER.example', 'xn--bcher-kva.example'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['例え.テスト', 'xn--r8jz45g.xn--zckzah'],
    ['1.example', '1.example'],
    [`${'a'.repeat(63)}.example`, `${'a'.repeat(63)}.example`],
  ])('normalizes %s to %s', (text, name) => expect(domainName(text)).toBe(name));

  it.each([
    '',
    'localhost',
    'com',
    '.example.com',
    'example.com.',
    'example..com',
    '-a.example',
    'a-.example',
    'a_b.example',
    'a b.example',
    'a@example.com',
    '@example.com',
    '*.example.com',
    'https://example.com',
    'example.com/path',
    'example.com:443',
    'ex%61mple.com',
    '127.0.0.1',
    '0x7f.1',
    '1.2',
    '[::1]',
    '::1',
    'xn--.example',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(126)}example`,
    'exam\u200Bple.com',
    'example。com',
  ])('rejects "%s"', (text) => expect(domainName(text)).toBeUndefined());
});
