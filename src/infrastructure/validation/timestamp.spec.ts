import fc from 'fast-check';
import { cpuTimeOf } from '../../../test/support/programs/cpu-time.js';
import { isTimestamp, readTimestamp, restoreOffset } from './timestamp.js';

describe('isTimestamp', () => {
  it.each([
    '2026-01-31T08:15:30Z',
    '2026-01-31T08:15:30.123456789Z',
    '2024-02-29T00:00:00+00:00',
    '2026-01-31T08:15:30-00:00',
    '2026-01-31T08:15:30.5+05:30',
    '2026-01-31T08:15:30+0000',
    '2026-01-31T08:15:30.5-0530',
    '2026-01-31T23:59:59+23:59',
    '2026-01-31T00:00:00-23:59',
    '0000-01-01T00:00:00-01:00',
    '9999-12-31T23:59:59+01:00',
  ])('accepts %s', (value) => expect(isTimestamp(value)).toBe(true));

  it.each([
    'yesterday',
    '2026-01-31',
    '2026-13-01T00:00:00Z',
    '2026-01-31 08:15:30Z',
    '2026-01-31T08:15:30.Z',
    '2026-01-31T08:15:30Z\0',
    '1769847330',
    '\0',
    '2026-01-31T08:15:30',
    '2026-01-31T08:15:30+000',
    '2026-01-31T08:15:30+2400',
    '2026-01-31T08:15:30+00',
    '2026-01-31T08:15:30 00:00',
    '2026-01-31T08:15:30−05:00',
    '2026-01-31T08:15:30+24:00',
    '2026-01-31T08:15:30-12:60',
    '2026-01-31T08:15:30Z+00:00',
    '2026-01-31T08:15:30+05:30:00',
    '2026-02-29T08:15:30+00:00',
    '2026-04-31T08:15:30-05:00',
    '2026-01-31T24:00:00+00:00',
    '2026-01-31T08:15:60+00:00',
    '0000-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
    1_769_847_330,
    null,
  ])('rejects %p', (value) => expect(isTimestamp(value)).toBe(false));

  it('accepts every instant in every offset', () => {
    const instants = fc.date({
      noInvalidDate: true,
      min: new Date('0001-01-02T00:00:00Z'),
      max: new Date('9999-12-30T00:00:00Z'),
    });
    fc.assert(
      fc.property(instants, fc.integer({ min: -1439, max: 1439 }), (instant, minutes) => {
        const local = new Date(instant.getTime() + minutes * 60_000).toISOString().slice(0, -1);
        const [hour, minute] = [Math.abs(minutes) / 60, Math.abs(minutes) % 60].map((part) =>
          String(Math.floor(part)).padStart(2, '0'),
        );
        const timestamp = `${local}${minutes < 0 ? '-' : '+'}${hour}:${minute}`;
        expect([timestamp, isTimestamp(timestamp)]).toEqual([timestamp, true]);
        expect(Date.parse(timestamp)).toBe(instant.getTime());
      }),
    );
  });
});

describe('restoreOffset', () => {
  it.each([
    ['2026-01-31T08:15:30 05:30', '2026-01-31T08:15:30+05:30'],
    ['2026-01-31T08:15:30 0530', '2026-01-31T08:15:30+0530'],
    ['2026-01-31T08:15:30.5 00:00', '2026-01-31T08:15:30.5+00:00'],
    ['2026-01-31T08:15:30-05:00', '2026-01-31T08:15:30-05:00'],
    ['2026-01-31 08:15:30Z', '2026-01-31T08:15:30Z'],
    ['2026-01-31 08:15:30.5 05:30', '2026-01-31T08:15:30.5+05:30'],
    ['2026-01-31T08:15 01:00', '2026-01-31T08:15:00+01:00'],
    ['2026-01-31T08:15:30 01', '2026-01-31T08:15:30+01:00'],
    ['2026-01-31T08:15:30 01:00[Europe/Paris]', '2026-01-31T08:15:30+01:00'],
    ['2026-01-31 08:15', '2026-01-31T08:15'],
    ['2026-01-31t08:15:30 05:30', '2026-01-31T08:15:30+05:30'],
    [['2026-01-31T08:15:30 05:30'], ['2026-01-31T08:15:30 05:30']],
  ])('turns %j into %j', (value, restored) => expect(restoreOffset(value)).toEqual(restored));

  it('reads the longest text in linear time', () => {
    const text = `0:00:${'1'.repeat(100_000)}`;
    expect(cpuTimeOf(() => restoreOffset(text))).toBeLessThan(100);
  });
});

describe('readTimestamp', () => {
  it.each([
    ['2026-01-31t08:15:30z', '2026-01-31T08:15:30Z'],
    ['2026-01-31t08:15:30.5-05:30', '2026-01-31T08:15:30.5-05:30'],
    ['2026-01-31T08:15:30z', '2026-01-31T08:15:30Z'],
    // Python: str(datetime). PostgreSQL: timestamptz.
    ['2026-01-31 08:15:30+00:00', '2026-01-31T08:15:30+00:00'],
    ['2026-01-31 08:15:30.123456+00', '2026-01-31T08:15:30.123456+00:00'],
    ['2026-01-31T08:15:30-05', '2026-01-31T08:15:30-05:00'],
    ['2026-01-31T08:15:30-0530', '2026-01-31T08:15:30-0530'],
    // Java: OffsetDateTime and ZonedDateTime. JavaScript: Temporal.ZonedDateTime.
    ['2026-01-31T00:00Z', '2026-01-31T00:00:00Z'],
    ['2026-01-31T08:15+05:30', '2026-01-31T08:15:00+05:30'],
    ['2026-01-31T08:15-05:30', '2026-01-31T08:15:00-05:30'],
    ['2026-01-31T08:15Z[UTC]', '2026-01-31T08:15:00Z'],
    ['2026-01-31T08:15:30.5+01:00[Europe/Paris]', '2026-01-31T08:15:30.5+01:00'],
    ['2026-01-31T08:15:30+01:00[!Etc/GMT-1]', '2026-01-31T08:15:30+01:00'],
    [1_769_847_330, 1_769_847_330],
  ])('turns %j into %j', (value, read) => expect(readTimestamp(value)).toEqual(read));

  it.each([
    'yesterday',
    '2026-01-31',
    '2026-01-31z',
    '2026-01-31T08Z',
    '2026-01-31 08:15:30',
    '2026-01-31T08:15[UTC]',
  ])('makes no timestamp of %s', (value) => expect(isTimestamp(readTimestamp(value))).toBe(false));
});
