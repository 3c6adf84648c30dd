/**
 * Compares built-in classes, of which the bundle has others.
 *
 * @jest-environment-options {"usesBundle": false}
 */
import { mergeMetadata, validateMetadataSize } from './session-metadata.js';

const keys = (count: number, prefix = 'k') =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, 'x']));

describe('Session metadata', () => {
  it('merges both parts, and the second one wins', () => {
    expect(mergeMetadata({ a: '1', b: '1' }, { b: '2', c: '2' })).toEqual({ a: '1', b: '2', c: '2' });
    expect(mergeMetadata({}, {})).toEqual({});
  });

  it('accepts keys that have a meaning in JavaScript', () => {
    const hostile = JSON.parse('{"__proto__":"1","toString":"2"}') as Record<string, string>;
    const merged = mergeMetadata(hostile, { a: '3' });
    expect(Object.entries(merged)).toEqual([
      ['__proto__', '1'],
      ['toString', '2'],
      ['a', '3'],
    ]);
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
  });

  it('accepts at most 10 keys after merging', () => {
    expect(validateMetadataSize(mergeMetadata(keys(6), keys(4, 'l')))).toBeUndefined();
    expect(validateMetadataSize(mergeMetadata(keys(10), keys(10)))).toBeUndefined();
    expect(validateMetadataSize(mergeMetadata(keys(6), keys(5, 'l')))).toBe(
      'The metadata field must not have more than 10 keys.',
    );
  });
});
