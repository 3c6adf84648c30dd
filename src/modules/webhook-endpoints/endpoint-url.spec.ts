import fc from 'fast-check';
import { maskedUrl, normalUrl } from './endpoint-url.js';

describe('The normal form of a URL', () => {
  it.each([
    ['https://example.com', 'https://example.com/'],
    ['HTTPS://EXAMPLE.com:443/A/../b', 'https://example.com/b'],
    ['https://example.com:8443/', 'https://example.com:8443/'],
    ['https://bücher.example/ä?ö#ü', 'https://xn--bcher-kva.example/%C3%A4?%C3%B6'],
    ['https://example.com/a#b', 'https://example.com/a'],
    ['https://example.com/?b=1&a=2', 'https://example.com/?b=1&a=2'],
  ])('of %s is %s', (text, normal) => expect(normalUrl(text)).toBe(normal));

  it('is its own, and ASCII', () => {
    fc.assert(
      fc.property(fc.webUrl({ validSchemes: ['https'], withQueryParameters: true }), (url) => {
        const normal = normalUrl(url);
        expect(normalUrl(normal)).toBe(normal);
        expect(normal).toMatch(/^[\x21-\x7E]+$/);
      }),
    );
  });
});

describe('A URL for logs', () => {
  it.each([
    ['https://example.com/hook', 'https://example.com/hook'],
    ['https://example.com/hook?', 'https://example.com/hook?'],
    ['https://example.com/?team=7&page=', 'https://example.com/?team=7&page='],
    ['https://example.com/?token=x&team=7', 'https://example.com/?token=***&team=7'],
    ['https://example.com/?api_key=abc', 'https://example.com/?api_key=***'],
    ['https://example.com/?X-Amz-Signature=ab%3D&a=b', 'https://example.com/?X-Amz-Signature=***&a=b'],
    ['https://example.com/?%74oken=x', 'https://example.com/?%74oken=***'],
    ['https://example.com/?secret=a=b', 'https://example.com/?secret=***'],
    ['https://example.com/?secret=', 'https://example.com/?secret='],
    ['https://example.com/?id=4fJq0vN8sYw2Lb7RtXk1', 'https://example.com/?id=***'],
    ['https://example.com/?4fJq0vN8sYw2Lb7RtXk1', 'https://example.com/?***'],
    ['https://example.com/?%zz=1&pin=1234', 'https://example.com/?%zz=1&pin=***'],
    ['https://example.com/?spinner=1', 'https://example.com/?spinner=1'],
    ['https://example.com/?a=1?token=x', 'https://example.com/?a=1?token=x'],
  ])('%s is %s', (text, masked) => expect(maskedUrl(text)).toBe(masked));
});
