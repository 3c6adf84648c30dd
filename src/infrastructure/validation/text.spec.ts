/**
 * Replaces a method of a built-in class, of which the bundle has another.
 *
 * @jest-environment-options {"usesBundle": false}
 */
import { firstCharacters, hasAtMostCharacters } from './text.js';

describe('hasAtMostCharacters()', () => {
  it.each([
    ['', 0, true],
    ['abc', 3, true],
    ['abcd', 3, false],
    ['😀😀😀', 3, true],
    ['😀😀😀a', 3, false],
    ['a😀😀😀', 3, false],
  ])('%j has at most %d characters: %s', (text, limit, expected) =>
    expect(hasAtMostCharacters(text, limit)).toBe(expected),
  );

  it('does not count the characters of a text that is too long anyway', () => {
    const { [Symbol.iterator]: iterator } = String.prototype;
    let counted = 0;
    String.prototype[Symbol.iterator] = function* (this: string) {
      counted += this.length;
      yield* iterator.call(this);
      return undefined;
    } as typeof iterator;
    try {
      expect(hasAtMostCharacters('a'.repeat(1_000_000), 256)).toBe(false);
      expect(firstCharacters('😀'.repeat(1_000_000), 256)).toBe('😀'.repeat(256));
      expect(counted).toBe(512);
    } finally {
      String.prototype[Symbol.iterator] = iterator;
    }
  });
});
