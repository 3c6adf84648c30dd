import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { toBase62 } from './base62.js';

const RANDOM_BYTES = 32;
/** 62^43 is the first power of 62 above 2^256. */
const RANDOM_DIGITS = 43;
/** 62^6 is the first power of 62 above 2^32. */
const CHECKSUM_DIGITS = 6;

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
  const random = BigInt(`0x${randomBytes(RANDOM_BYTES).toString('hex')}`);
  const unchecked = prefix + toBase62(random, RANDOM_DIGITS);
  return unchecked + checksum(unchecked);
}

/** Whether the text has the form of a secret with this prefix, its checksum included. */
export function isWellFormedSecret(text: string, prefix: string): boolean {
  if (text.length !== prefix.length + RANDOM_DIGITS + CHECKSUM_DIGITS || !text.startsWith(prefix)) return false;
  return text.endsWith(checksum(text.slice(0, -CHECKSUM_DIGITS)));
}

function checksum(text: string): string {
  return toBase62(BigInt(crc32(text)), CHECKSUM_DIGITS);
}
