import { periodOf } from './period.js';

describe('periodOf', () => {
  it.each([
    ['2026-01-31T08:15:30Z', '2026-01-31T08:15:30.000Z', '2026-01-31T08:15:30.000Z'],
    ['2026-01-31T08:15:30.5Z', '2026-01-31T08:15:30.500Z', '2026-01-31T08:15:30.500Z'],
    ['2026-01-31T08:15:30.123Z', '2026-01-31T08:15:30.123Z', '2026-01-31T08:15:30.123Z'],
    ['2026-01-31T08:15:30.123000Z', '2026-01-31T08:15:30.123Z', '2026-01-31T08:15:30.123Z'],
    ['2026-01-31T08:15:30.1234Z', '2026-01-31T08:15:30.124Z', '2026-01-31T08:15:30.123Z'],
    ['2026-01-31T08:15:30.999000001Z', '2026-01-31T08:15:31.000Z', '2026-01-31T08:15:30.999Z'],
  ])('reads %s as the start %s and the end %s', (timestamp, start, end) => {
    const period = periodOf({ start: timestamp, end: timestamp });
    expect([period.start?.toISOString(), period.end?.toISOString()]).toEqual([start, end]);
  });

  it('has no limits without timestamps', () => {
    expect(periodOf({})).toEqual({ start: undefined, end: undefined });
  });
});
