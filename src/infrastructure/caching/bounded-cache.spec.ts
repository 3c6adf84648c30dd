import { BoundedCache } from './bounded-cache.js';

describe('BoundedCache', () => {
  it('finds values by texts of any length, and keeps at most 128 characters of each', () => {
    const cache = new BoundedCache<number>({ max: 10 });
    const texts = [
      '',
      'short',
      'x'.repeat(128),
      'x'.repeat(129),
      `${'x'.repeat(16_000)}1`,
      `${'x'.repeat(16_000)}2`,
    ];
    for (const [index, text] of texts.entries()) cache.set(text, index);
    expect(texts.map((text) => cache.get(text))).toEqual([0, 1, 2, 3, 4, 5]);
    expect(texts.map((text) => cache.peek(text))).toEqual([0, 1, 2, 3, 4, 5]);
    expect(Math.max(...[...cache.keys()].map(({ length }) => length))).toBe(128);
    expect(texts.map((text) => cache.delete(text))).toEqual(texts.map(() => true));
    expect(cache.size).toBe(0);
  });
});
