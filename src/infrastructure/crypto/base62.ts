const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE = 62n;
/** A 64-bit piece yields ten digits at a time, which keeps most of the work out of BigInt. */
const DIGITS_PER_STEP = 10;
const STEP = BASE ** BigInt(DIGITS_PER_STEP);

/** Writes an unsigned integer in base62, padded with zeros on the left to `length` digits. */
export function toBase62(value: bigint, length: number): string {
  let digits = '';
  let rest = value;
  while (digits.length < length) {
    let step = Number(rest % STEP);
    rest /= STEP;
    for (let index = 0; index < DIGITS_PER_STEP; index += 1) {
      digits = ALPHABET.charAt(step % 62) + digits;
      step = Math.floor(step / 62);
    }
  }
  return digits.slice(-length);
}
