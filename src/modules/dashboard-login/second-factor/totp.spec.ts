import { Secret } from 'otpauth';
import { generateTotpSecret, totpStepOf, totpUri } from './totp.js';

/** RFC 6238, appendix B: the secret of SHA-1, times in seconds, and the last 6 of their 8 digits. */
const SECRET = Secret.fromLatin1('12345678901234567890').base32;

describe('totpStepOf', () => {
  it.each([
    [59, '287082', 1],
    [1_111_111_109, '081804', 37_037_036],
    [1_111_111_111, '050471', 37_037_037],
    [1_234_567_890, '005924', 41_152_263],
    [2_000_000_000, '279037', 66_666_666],
  ])('accepts the code of RFC 6238 at %i s', (seconds, code, step) => {
    expect(totpStepOf(SECRET, code, seconds * 1000)).toBe(step);
    expect(totpStepOf(SECRET, ` ${code.slice(0, 3)} ${code.slice(3)} `, seconds * 1000)).toBe(step);
    expect(totpStepOf(SECRET, `${code.slice(0, 3)}-${code.slice(3)}`, seconds * 1000)).toBe(step);
    // In full width, Arabic and Devanagari.
    for (const zero of ['０', '٠', '०']) {
      const typed = [...code].map((digit) => String.fromCodePoint(zero.charCodeAt(0) + Number(digit)));
      expect(totpStepOf(SECRET, typed.join(''), seconds * 1000)).toBe(step);
    }
    expect(totpStepOf(SECRET, code, (seconds + 30) * 1000)).toBe(step);
    expect(totpStepOf(SECRET, code, (seconds - 30) * 1000)).toBe(step);
    expect(totpStepOf(SECRET, code, (seconds + 60) * 1000)).toBeUndefined();
    expect(totpStepOf(SECRET, code, (seconds - 60) * 1000)).toBeUndefined();
  });

  it.each(['', '28708', '2870820', '28708x', '-28708', '２８７０８', '²87082x', '二八七〇八二'])(
    'rejects %j',
    (code) => {
      expect(totpStepOf(SECRET, code, 59_000)).toBeUndefined();
    },
  );
});

it('generates different secrets of 160 bits', () => {
  const secrets = new Set(Array.from({ length: 100 }, generateTotpSecret));
  expect(secrets.size).toBe(100);
  for (const secret of secrets) expect(secret).toMatch(/^[A-Z2-7]{32}$/);
});

it('names the account in the URI for the app', () => {
  const uri = new URL(totpUri(SECRET, 'ada+1@example.com'));
  expect(uri.protocol).toBe('otpauth:');
  expect(decodeURIComponent(uri.pathname)).toContain('Merchant Connectivity:ada+1@example.com');
  expect(uri.searchParams.get('secret')).toBe(SECRET);
  expect(uri.searchParams.get('issuer')).toBe('Merchant Connectivity');
});
