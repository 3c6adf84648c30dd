import { randomFillSync } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { SECRET_PATTERN } from '../logging/index.js';
import { DAY } from '../time/index.js';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 62^43 is the first power of 62 above 2^256: 43 uniform digits hold 256 random bits. */
const RANDOM_DIGITS = 43;
/** How many of the random digits a dated secret uses for its day: 62^3 days last until the year 2622. */
const DAY_DIGITS = 3;
/** 62^6 is the first power of 62 above 2^32. */
const CHECKSUM_DIGITS = 6;
/** The largest multiple of 62 up to 256. Bytes from this value up are skipped, because they would favor the low digits. */
const UNBIASED_BYTES = 248;
/** Hours for which the previous secret is still accepted after a rotation. */
export const DEFAULT_OVERLAP_HOURS = 24;
export const MAX_OVERLAP_HOURS = 7 * 24;
/** Random bytes for about 90 secrets: a call of the random generator costs ten times as much as the rest of a secret. */
const pool = Buffer.alloc(4_096);
let used = pool.length;

/**
 * Generates a secret: the prefix, 256 random bits in base62, and a CRC-32 of both in base62, by which a scanner
 * recognizes a real secret without a request to this service.
 */
export function generateSecret(prefix: string): string {
  return withChecksum(prefix + randomDigits(RANDOM_DIGITS));
}

/**
 * Generates a dated secret: its first three digits are the day of its creation in UTC, as the number of days since 1970 in
 * base62, so that it can be found in a table that is partitioned by day. The other 40 digits hold 238 random bits.
 */
export function generateDatedSecret(prefix: string, createdAt: Date): string {
  const day = base62(Math.floor(createdAt.getTime() / DAY), DAY_DIGITS);
  return withChecksum(prefix + day + randomDigits(RANDOM_DIGITS - DAY_DIGITS));
}

/**
 * Returns the secret that belongs to a digest of 256 bits, the same one each time.
 *
 * @param createdAt makes it a dated secret: see `generateDatedSecret`
 */
export function secretFrom(digest: Buffer, prefix: string, createdAt?: Date): string {
  const day = createdAt ? base62(Math.floor(createdAt.getTime() / DAY), DAY_DIGITS) : '';
  let rest = BigInt(`0x${digest.toString('hex')}`);
  let digits = '';
  while (day.length + digits.length < RANDOM_DIGITS) {
    digits += DIGITS.charAt(Number(rest % 62n));
    rest /= 62n;
  }
  return withChecksum(prefix + day + digits);
}

/** Returns the digest from which `secretFrom` made a secret without a date, or undefined if the text is not well-formed. */
export function digestOfSecret(secret: string): Buffer | undefined {
  if (!isWellFormedSecret(secret)) return undefined;
  let digest = 0n;
  const start = secret.length - RANDOM_DIGITS - CHECKSUM_DIGITS;
  for (let position = start + RANDOM_DIGITS - 1; position >= start; position -= 1)
    digest = digest * 62n + BigInt(DIGITS.indexOf(secret.charAt(position)));
  const hex = digest.toString(16).padStart(64, '0');
  return hex.length === 64 ? Buffer.from(hex, 'hex') : undefined;
}

/** Returns the start of the day in a dated secret. For a well-formed secret without a date, that is a random day. */
export function dayOfSecret(secret: string): Date {
  const start = -(RANDOM_DIGITS + CHECKSUM_DIGITS);
  let day = 0;
  for (const digit of secret.slice(start, start + DAY_DIGITS))
    day = day * DIGITS.length + DIGITS.indexOf(digit);
  return new Date(day * DAY);
}

/** Returns whether the text has the format of a secret, including the right checksum. */
export function isWellFormedSecret(text: string): boolean {
  const [found] = text.match(SECRET_PATTERN) ?? [];
  return found === text && withChecksum(text.slice(0, -CHECKSUM_DIGITS)) === text;
}

/** Returns whether the text has the format of a secret without a prefix, including the right checksum. */
export function isWellFormedSecretWithoutPrefix(text: string): boolean {
  return /^[0-9A-Za-z]{49}$/.test(text) && withChecksum(text.slice(0, -CHECKSUM_DIGITS)) === text;
}

function randomDigits(count: number): string {
  let digits = '';
  while (digits.length < count) {
    const byte = randomByte();
    if (byte < UNBIASED_BYTES) digits += DIGITS.charAt(byte % 62);
  }
  return digits;
}

/** Takes a byte out of the pool, so that a copy of the memory does not show the secrets that were issued before. */
function randomByte(): number {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const byte = pool[used] as number;
  pool[used] = 0;
  used += 1;
  return byte;
}

function withChecksum(text: string): string {
  return text + base62(crc32(text), CHECKSUM_DIGITS);
}

function base62(number: number, length: number): string {
  let remainder = number;
  let digits = '';
  for (let position = 0; position < length; position += 1) {
    digits = DIGITS.charAt(remainder % 62) + digits;
    remainder = Math.floor(remainder / 62);
  }
  return digits;
}
