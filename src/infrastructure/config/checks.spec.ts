import { parsedUrl } from './checks.js';

describe('parsedUrl', () => {
  it('parses URLs with the WHATWG parser', () => {
    expect(parsedUrl('https://EXAMPLE.com/a/../b')?.href).toBe('https://example.com/b');
    expect(parsedUrl('/b', 'https://example.com/a')?.href).toBe('https://example.com/b');
  });

  it('returns undefined for other text', () => {
    expect(parsedUrl('example')).toBeUndefined();
    expect(parsedUrl('https://')).toBeUndefined();
  });

  // `URL.canParse` of Node.js 20 rejects this URL once the calling function is compiled.
  it('returns the same result after many calls', () => {
    const refused = Array.from({ length: 100_000 }, () => parsedUrl('https://m\u00fcnchen.example/')).filter(
      (url) => url === undefined,
    );
    expect(refused).toEqual([]);
  });
});
