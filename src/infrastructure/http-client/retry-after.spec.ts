import fc from 'fast-check';
import { MAX_PARSED_RETRY_AFTER, retryAfterSeconds } from './retry-after.js';

const NOW = Date.UTC(1994, 10, 6, 8, 49, 0);

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    ['120', 120],
    [' 120 ', 120],
    ['3600', 3600],
    ['3601', 3600],
    ['9'.repeat(400), 3600],
    // The three dates of RFC 9110, section 5.6.7.
    ['Sun, 06 Nov 1994 08:49:37 GMT', 37],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 37],
    ['Sun Nov  6 08:49:37 1994', 37],
    ['Sun, 06 Nov 1994 08:48:00 GMT', 0],
    // As some servers write them.
    ['0.0', 0],
    ['1.5', 2],
    ['Sun, 6 Nov 1994 08:49:37 GMT', 37],
    ['Sun, 06 Nov 1994 08:49:37 gmt', 37],
    ['Sun, 06 Nov 1994 08:49:37 UTC', 37],
    ['Sun, 06 Nov 1994 08:49:37 +0000', 37],
    ['Sun, 06 Nov 1994 09:49:37 +0100', 37],
    ['Mon, 06 Nov 2094 08:49:37 GMT', 3600],
    [undefined, null],
    ['', null],
    ['-1', null],
    ['1e3', null],
    ['1.', null],
    ['.5', null],
    ['0x10', null],
    ['soon', null],
    ['1994-11-06T08:49:37Z', null],
    ['Sun, 99 Nov 1994 08:49:37 GMT', null],
    ['Sun, 06 Nov 1994 08:49:37 CET', null],
  ])('"%s" means %s', (header, seconds) => {
    expect(retryAfterSeconds(header, NOW)).toBe(seconds);
  });

  it('is an integer within the limits, or null', () => {
    const dates = fc.date({ noInvalidDate: true }).map((date) => date.toUTCString());
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.nat().map(String), dates), fc.nat(), (header, now) => {
        const seconds = retryAfterSeconds(header, now);
        if (seconds === null) return;
        expect(Number.isInteger(seconds)).toBe(true);
        expect(seconds).toBeGreaterThanOrEqual(0);
        expect(seconds).toBeLessThanOrEqual(MAX_PARSED_RETRY_AFTER);
      }),
    );
  });
});
