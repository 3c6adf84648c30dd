import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 62^43 is the first power of 62 above 2^256: 43 uniform digits hold 256 random bits. */
const RANDOM_DIGITS = 43;
/** 62^6 is the first power of 62 above 2^32. */
const CHECKSUM_DIGITS = 6;
/**
 * The largest multiple of 62 up to 256. Bytes from this value up are skipped, because they would favor the low digits.
 */
const UNBIASED_BYTES = 248;
/** More than 43, because some bytes are skipped. */
const BYTES_PER_DRAW = 56;

/**
 * The published pattern of all secrets that this service issues: API secrets (`mcs_dev_`, `mcs_live_`), MCP tokens
 * (`mcp_`) and service tokens (`mcs_svc_`). Used by leak scanners, and by the redaction of logs.
 */
export const SECRET_PATTERN = /\bmc(?:[sp]_(?:dev|live)|s_svc)_[0-9A-Za-z]{49}/g;

/**
 * Generates a secret: the prefix, 256 random bits in base62, and a CRC-32 of both in base62, by which a scanner
 * recognizes a real secret without a request to this service.
 */
export function generateSecret(prefix: string): string {
  const unchecked = prefix + randomDigits();
  return unchecked + checksum(unchecked);
}

/** Returns whether the text has the format of a secret, including the right checksum. */
export function isWellFormedSecret(text: string): boolean {
  const [found] = text.match(SECRET_PATTERN) ?? [];
  return found === text && text.endsWith(checksum(text.slice(0, -CHECKSUM_DIGITS)));
}

function randomDigits(): string {
  let digits = '';
  while (digits.length < RANDOM_DIGITS) {
    for (const byte of randomBytes(BYTES_PER_DRAW)) {
      if (byte < UNBIASED_BYTES && digits.length < RANDOM_DIGITS) digits += DIGITS.charAt(byte % 62);
    }
  }
  return digits;
}

function checksum(text: string): string {
  let remainder = crc32(text);
  let digits = '';
  for (let position = 0; position < CHECKSUM_DIGITS; position += 1) {
    digits = DIGITS.charAt(remainder % 62) + digits;
    remainder = Math.floor(remainder / 62);
  }
  return digits;
}
