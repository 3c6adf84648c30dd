import { generateUserCode, parseUserCode, formatUserCode } from './user-code.js';

describe('User codes', () => {
  it('have 8 consonants, each about equally often', () => {
    const codes = Array.from({ length: 2_000 }, generateUserCode);
    for (const code of codes) expect(code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{8}$/);
    expect(new Set(codes).size).toBe(codes.length);
    const counts = new Map<string, number>();
    for (const letter of codes.join('')) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    // 800 expected, standard deviation 28.
    for (const count of counts.values()) expect(Math.abs(count - 800)).toBeLessThan(200);
    expect(counts.size).toBe(20);
  });

  it('are displayed in two groups of four', () => expect(formatUserCode('WDJBMJHT')).toBe('WDJB-MJHT'));

  it.each([
    'WDJB-MJHT',
    'wdjbmjht',
    'ＷＤＪＢ－ＭＪＨＴ',
    'ｗｄｊｂ　ｍｊｈｔ',
    ' Wdjb mjht ',
    'W.D.J.B/M_J_H_T',
    'wdjb—mjht',
    '"WDJB-MJHT"',
  ])('are accepted in any case and punctuation: %s', (text) => expect(parseUserCode(text)).toBe('WDJBMJHT'));

  it.each(['', 'WDJB-MJH', 'WDJB-MJHTB', 'WDJA-MJHT', 'WDJ8-MJHT', 'ẞDJB-MJHT', 'WDJB-MJHT1', '%'])(
    'are rejected when malformed: "%s"',
    (text) => expect(parseUserCode(text)).toBeUndefined(),
  );
});
