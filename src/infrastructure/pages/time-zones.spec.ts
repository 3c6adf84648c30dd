import { localTimeAt, offsetAt, timeAt, timeZoneNamed } from './time-zones.js';

describe('Time zones of pages', () => {
  it.each([
    ['2026-01-31T08:15', 'UTC', '2026-01-31T08:15:00.000Z'],
    ['2026-01-31T08:15', 'Europe/Berlin', '2026-01-31T07:15:00.000Z'],
    ['2026-07-31T08:15:30', 'Europe/Berlin', '2026-07-31T06:15:30.000Z'],
    ['2026-01-31T00:15', 'Asia/Kathmandu', '2026-01-30T18:30:00.000Z'],
    // Clocks went forward from 02:00 to 03:00.
    ['2026-03-29T02:30', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'],
  ])('read %s in %s as %s', (local, zone, time) => {
    expect(timeAt(local, zone)?.toISOString()).toBe(time);
  });

  it('show what a clock shows, and the distance from UTC', () => {
    const time = new Date('2026-01-31T23:15:30.123Z');
    expect(localTimeAt(time, 'UTC')).toBe('2026-01-31T23:15:30.123');
    expect(localTimeAt(time, 'Europe/Berlin')).toBe('2026-02-01T00:15:30.123');
    expect(['UTC', 'Europe/Berlin', 'America/St_Johns'].map((zone) => offsetAt(time, zone))).toEqual([
      'UTC',
      'UTC+01:00',
      'UTC-03:30',
    ]);
  });

  it.each(['', 'Mars/Olympus', 'Europe/Berlin/'.repeat(9), '__proto__', '+01:00', '<script>/'])(
    'are not %s',
    (name) => {
      expect(timeZoneNamed(name)).toBeUndefined();
      expect(timeAt('2026-01-31T08:15', name)).toBeUndefined();
    },
  );

  it('have one spelling', () => {
    expect(timeZoneNamed('aMERICA/nEW_yORK')).toBe('America/New_York');
    expect(timeZoneNamed('UTC')).toBe('UTC');
  });
});
