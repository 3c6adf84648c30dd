import fc from 'fast-check';
import { forbiddenUrls } from '../../../test/support/http/forbidden-urls.js';
import { normalUrl, validatePublicUrl } from './public-url.js';

describe('validatePublicUrl', () => {
  it.each(forbiddenUrls(8443))('rejects %s', (url, problem) => {
    expect(validatePublicUrl(url)).toBe(problem);
  });

  it.each([
    'https://example.com',
    'https://example.com/',
    'https://example.com./hook',
    'HTTPS://EXAMPLE.COM/HOOK',
    'https://hooks.example.com:8443/a/b?c=d&e=%20#f',
    'https://münchen.example.com/ü',
    'https://例え.テスト.example.com/',
    'https://xn--mnchen-3ya.example.com/',
    'https://a_b.example.com/',
    'https://127.0.0.1.example.com/',
    'https://localhost.example.com/',
    'https://local.example.com/',
    'https://1.example.com/',
    'https://example.com/@127.0.0.1',
    'https://example.com/?url=http://user:password@127.0.0.1',
    'https://receiver.xn--p1ai/',
    `https://${'a'.repeat(63)}.example.com/`,
  ])('accepts %s', (url) => {
    expect(validatePublicUrl(url)).toBeUndefined();
  });

  it.each(['https://@example.com/', 'HTTPS://@example.com/', 'https://:@example.com/'])(
    'rejects %s, whose credentials are empty',
    (url) => {
      expect(validatePublicUrl(url)).toBe('CREDENTIALS');
    },
  );

  it('rejects IPv4 addresses in every notation', () => {
    const number = (value: number) =>
      fc.constantFrom(
        String(value),
        `0x${value.toString(16)}`,
        `0${value.toString(8)}`,
        `0X00${value.toString(16)}`,
      );
    const spelled = fc
      .tuple(fc.nat({ max: 0xffffffff }), fc.integer({ min: 1, max: 4 }))
      .chain(([address, parts]) => {
        const bytes = Array.from({ length: parts - 1 }, (_, index) => (address >>> (24 - 8 * index)) & 0xff);
        const bits = 8 * (5 - parts);
        const last = bits === 32 ? address : address % 2 ** bits;
        return fc.tuple(...[...bytes, last].map(number)).map((texts) => texts.join('.'));
      });
    fc.assert(
      fc.property(spelled, fc.constantFrom('', '.'), (host, dot) => {
        expect(validatePublicUrl(`https://${host}${dot}/`)).toBe('ADDRESS');
      }),
      { numRuns: 2000 },
    );
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.webUrl(), fc.string({ unit: 'binary' })), (text) => {
        validatePublicUrl(text);
        validatePublicUrl(`https://${text}`);
      }),
      { numRuns: 2000 },
    );
  });

  it('accepts only hosts that the parser does not change any further', () => {
    fc.assert(
      fc.property(fc.webAuthority({ withIPv4: true, withIPv6: true, withPort: true }), (authority) => {
        const url = `https://${authority}/`;
        if (validatePublicUrl(url) !== undefined) return;
        expect(new URL(new URL(url).href).hostname).toBe(new URL(url).hostname);
        expect(validatePublicUrl(new URL(url).href)).toBeUndefined();
      }),
    );
  });
});

describe('normalUrl', () => {
  it.each([
    ['https://example.com', 'https://example.com/'],
    ['HTTPS://EXAMPLE.com:443/A/../b', 'https://example.com/b'],
    ['https://example.com:8443/', 'https://example.com:8443/'],
    ['https://bücher.example/ä?ö#ü', 'https://xn--bcher-kva.example/%C3%A4?%C3%B6'],
    ['https://example.com./', 'https://example.com/'],
    ['https://example.com.:8443/a', 'https://example.com:8443/a'],
    ['https://example.com/a#b', 'https://example.com/a'],
    ['https://example.com/?b=1&a=2', 'https://example.com/?b=1&a=2'],
  ])('turns %s into %s', (text, normal) => expect(normalUrl(text)).toBe(normal));

  it('is idempotent and returns ASCII', () => {
    fc.assert(
      fc.property(fc.webUrl({ validSchemes: ['https'], withQueryParameters: true }), (url) => {
        const normal = normalUrl(url);
        expect(normalUrl(normal)).toBe(normal);
        expect(normal).toMatch(/^[\x21-\x7E]+$/);
      }),
    );
  });
});
