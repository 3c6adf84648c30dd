import fc from 'fast-check';
import { matchKey, matchKeys } from './match-key.js';
import { cpuTimeOf } from '../../../test/support/programs/cpu-time.js';

const anyText = fc.string({ unit: 'grapheme', maxLength: 60 });
/** Text in scripts that have letter case and accents. */
const words = fc.string({
  unit: fc.constantFrom(..."abcxyzABCXYZ0189éÉñÑüÜçÇøØåÅßæœĐđŁłИйΣσςΆά &+-.’'!"),
  maxLength: 30,
});

describe('matchKey', () => {
  it.each([
    ['Café  Ōsaka!', 'cafeosaka'],
    ['CAFE OSAKA', 'cafeosaka'],
    ['Disney+', 'disney'],
    ['Wal-Mart', 'walmart'],
    ['H&M', 'hm'],
    ["McDonald's", 'mcdonalds'],
    ['McDonald’s', 'mcdonalds'],
    ['7-Eleven', '7eleven'],
    ['Ｎｅｔｆｌｉｘ', 'netflix'],
    ['  Net-Flix ® ', 'netflix'],
    ['Ø', 'o'],
    ['Straße', 'strasse'],
    ['STRASSE', 'strasse'],
    ['ŁÓDŹ', 'lodz'],
    ['İstanbul', 'istanbul'],
    ['ﬁt', 'fit'],
    ['楽天', '楽天'],
    ['', ''],
    ['!?+', ''],
    ['\u0000\uD800', ''],
  ])('maps %p to %p', (name, key) => expect(matchKey(name)).toBe(key));

  it('is idempotent', () => {
    fc.assert(fc.property(anyText, (name) => matchKey(matchKey(name)) === matchKey(name)));
  });

  it('returns letters and digits only', () => {
    fc.assert(fc.property(anyText, (name) => /^[\p{Letter}\p{Number}]*$/u.test(matchKey(name))));
  });

  it('ignores case', () => {
    fc.assert(
      fc.property(words, (name) => {
        const key = matchKey(name);
        return matchKey(name.toUpperCase()) === key && matchKey(name.toLowerCase()) === key;
      }),
    );
  });

  it('ignores accents, whether composed or decomposed', () => {
    const accents = fc.constantFrom('\u0300', '\u0301', '\u0302', '\u0303', '\u0308', '\u030A', '\u0327');
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...'abcdeinouyz'), accents)), (letters) => {
        const plain = letters.map(([letter]) => letter).join('');
        const accented = letters.map(([letter, accent]) => letter + accent).join('');
        return matchKey(accented) === plain && matchKey(accented.normalize('NFC')) === plain;
      }),
    );
  });

  it('ignores spacing and punctuation', () => {
    const between = fc.constantFrom(' ', '\t', '-', '.', ',', '&', '+', '’', '\u00A0', '\u200B', '™');
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...'abcxyz019'), between)), (letters) => {
        const joined = letters.flat().join('').replaceAll('™', '');
        return matchKey(joined) === letters.map(([letter]) => letter).join('');
      }),
    );
  });
});

describe('matchKeys', () => {
  it.each([
    ['Netflix', ['netflix']],
    ['Netflix account', ['netflixaccount', 'netflix']],
    ['Netflix, Inc.', ['netflixinc', 'netflix']],
    ['Netflix Co. account', ['netflixcoaccount', 'netflix']],
    ['Booking.com', ['bookingcom', 'booking']],
    ['www.netflix.com', ['wwwnetflixcom', 'netflixcom', 'netflix']],
    ['HTTPS://www.Netflix.com/browse?x=1', ['httpswwwnetflixcombrowsex1', 'netflixcom', 'netflix']],
    ['netflix.com account', ['netflixcomaccount', 'netflixcom', 'netflix']],
    ['Zoom.us', ['zoomus']],
    ['T.J. Maxx', ['tjmaxx']],
    ['Inc.', ['inc']],
    ['account', ['account']],
    ['%', []],
    [' !!! ', []],
  ])('of %p are %j', (name, keys) => expect(matchKeys(name)).toEqual(keys));

  it('begin with the key of the whole name, and are at most four', () => {
    fc.assert(
      fc.property(anyText, (name) => {
        const keys = matchKeys(name);
        expect(keys.length).toBeLessThanOrEqual(4);
        if (matchKey(name) !== '') expect(keys[0]).toBe(matchKey(name));
      }),
    );
  });

  it.each(['a.', 'account ', 'www.', 'https://', ' ', '\u{FDFA}'])(
    'take no longer for hostile text (%j)',
    (part) => {
      const time = cpuTimeOf(() => {
        for (let repetition = 0; repetition < 4; repetition += 1) matchKeys(part.repeat(20_000));
      });
      expect(time).toBeLessThan(5_000);
    },
  );
});
