import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 62^43 is the first power of 62 above 2^256: 43 even digits are 256 random bits. */
const RANDOM_DIGITS = 43;
/** 62^6 is the first power of 62 above 2^32. */
const CHECKSUM_DIGITS = 6;
/** The largest multiple of 62 that a byte can hold; bytes from there on would favour the low digits. */
const EVEN_BYTES = 248;
/** More than 43, so that one draw is nearly always enough. */
const BYTES_PER_DRAW = 56;

/**
 * The published expression that finds every secret this service gives out: API secrets (`mcs_`) and
 * MCP tokens (`mcp_`). For leak scanners, and for our own redaction.
 */
export const SECRET_PATTERN = /\bmc[sp]_(?:dev|live)_[0-9A-Za-z]{49}/g;

/**
 * A new secret: the prefix, 256 random bits in base62, and a CRC-32 of all that in base62, by which
 * a scanner tells a real secret from a look-alike without asking us.
 */
export function generateSecret(prefix: string): string {
  const unchecked = prefix + randomDigits();
  return unchecked + checksum(unchecked);
}

/** Whether the text is a secret as this service makes them: whole, and with the right checksum. */
export function isWellFormedSecret(text: string): boolean {
  const [found] = text.match(SECRET_PATTERN) ?? [];
  return found === text && text.endsWith(checksum(text.slice(0, -CHECKSUM_DIGITS)));
}

function randomDigits(): string {
  let digits = '';
  while (digits.length < RANDOM_DIGITS) {
    for (const byte of randomBytes(BYTES_PER_DRAW)) {
      if (byte < EVEN_BYTES && digits.length < RANDOM_DIGITS) digits += DIGITS.charAt(byte % 62);
    }
  }
  return digits;
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let position = 0; position < CHECKSUM_DIGITS; position += 1) {
    digits = DIGITS.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
