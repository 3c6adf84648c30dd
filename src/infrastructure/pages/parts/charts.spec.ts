import { inShortTime } from './charts.js';

describe('inShortTime', () => {
  it.each([
    [0, 800, '0 ms'],
    [400, 800, '400 ms'],
    [0, 2_000, '0 s'],
    [500, 2_000, '0.5 s'],
    [2_000, 2_000, '2 s'],
  ])('formats %i ms on an axis up to %i ms as %s', (value, highest, text) => {
    expect(inShortTime(value, highest)).toBe(text);
  });

  it('chooses the unit of a single value', () => {
    expect([inShortTime(999), inShortTime(1_500)]).toEqual(['999 ms', '1.5 s']);
  });
});
