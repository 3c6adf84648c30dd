import fc from 'fast-check';
import { normalUrl } from './public-url.js';

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
