import { parsedUrl } from './parsed-url.js';

describe('A parsed URL', () => {
  it('is what the WHATWG parser reads', () => {
    expect(parsedUrl('https://EXAMPLE.com/a/../b')?.href).toBe('https://example.com/b');
    expect(parsedUrl('/b', 'https://example.com/a')?.href).toBe('https://example.com/b');
  });

  it('is undefined for other text', () => {
    expect(parsedUrl('example')).toBeUndefined();
    expect(parsedUrl('https://')).toBeUndefined();
  });

  // Compiled after some thousands of calls, `URL.canParse` of Node.js 20 takes to refusing this.
  it('stays the same however often it is asked', () => {
    const refused = Array.from({ length: 100_000 }, () => parsedUrl('https://m\u00fcnchen.example/')).filter(
      (url) => url === undefined,
    );
    expect(refused).toEqual([]);
  });
});
