import { filtersOf } from './page-input.js';
import { localTimeAt, offsetAt, timeAt, timeZoneNamed } from './time-zones.js';

const queryTimes = (local: string, zone: string): object => filtersOf({ start: local, end: local, zone });

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

  it.each([
    // Clocks went back from 03:00 to 02:00, and from 02:00 to 01:00.
    ['2026-10-25T02:30', 'Europe/Berlin', '2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z'],
    ['2026-11-01T01:00', 'America/New_York', '2026-11-01T05:00:00.000Z', '2026-11-01T06:00:00.000Z'],
    ['2026-11-01T01:59:59', 'America/New_York', '2026-11-01T05:59:59.000Z', '2026-11-01T06:59:59.000Z'],
    ['2026-11-01T02:00', 'America/New_York', '2026-11-01T07:00:00.000Z', '2026-11-01T07:00:00.000Z'],
    ['2026-04-05T01:45', 'Australia/Lord_Howe', '2026-04-04T14:45:00.000Z', '2026-04-04T15:15:00.000Z'],
  ])(
    'read %s in %s, which came twice, as the first at a start and as the second at an end',
    (local, zone, start, end) => {
      expect(queryTimes(local, zone)).toEqual({ start, end });
    },
  );

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

describe('filtersOf', () => {
  it('leaves out what tracks a link, but no other parameter that is unknown', () => {
    const tracking = {
      utm_source: 'mail',
      utm_campaign: 'x',
      fbclid: 'x',
      gclid: 'x',
      msclkid: 'x',
      mc_cid: 'x',
      _hsenc: 'x',
    };
    expect(filtersOf({ ...tracking, status: 'active', sttaus: 'x', utm: 'x', client_id: 'x' })).toEqual({
      status: 'active',
      sttaus: 'x',
      utm: 'x',
      client_id: 'x',
    });
  });
});
