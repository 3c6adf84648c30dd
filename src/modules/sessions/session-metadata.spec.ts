import { validateSize, merged } from './session-metadata.js';

const keys = (count: number, prefix = 'k') =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, 'x']));

describe('Metadata from both sides', () => {
  it('is merged, and the second side wins', () => {
    expect(merged({ a: '1', b: '1' }, { b: '2', c: '2' })).toEqual({ a: '1', b: '2', c: '2' });
    expect(merged({}, {})).toEqual({});
  });

  it('may have keys that mean something to JavaScript', () => {
    const loaded = JSON.parse('{"__proto__":"1","toString":"2"}') as Record<string, string>;
    const whole = merged(loaded, { a: '3' });
    expect(Object.entries(whole)).toEqual([
      ['__proto__', '1'],
      ['toString', '2'],
      ['a', '3'],
    ]);
    expect(Object.getPrototypeOf(whole)).toBe(Object.prototype);
  });

  it('has ten keys at most', () => {
    expect(validateSize(merged(keys(6), keys(4, 'l')))).toBeUndefined();
    expect(validateSize(merged(keys(10), keys(10)))).toBeUndefined();
    expect(validateSize(merged(keys(6), keys(5, 'l')))).toBe(
      'The metadata field must not have more than 10 keys.',
    );
  });
});
