import { lazy, LazyValues } from './lazy-values.js';

describe('LazyValues', () => {
  it('loads a value once for concurrent users', async () => {
    let loads = 0;
    const value = lazy(async () => (loads += 1));
    expect(await Promise.all([value(), value(), value()])).toEqual([1, 1, 1]);
    expect(await value()).toBe(1);
  });

  it('loads again after a failure, and keeps the values of other names', async () => {
    const values = new LazyValues<string>();
    const fail = () => Promise.reject(new Error('EMFILE: too many open files'));
    await values.get('other', async () => 'other');
    for (let use = 0; use < 2; use += 1) await expect(values.get('one', fail)).rejects.toThrow('EMFILE');
    expect(await values.get('one', async () => 'one')).toBe('one');
    expect([await values.get('one', fail), await values.get('other', fail)]).toEqual(['one', 'other']);
  });
});
