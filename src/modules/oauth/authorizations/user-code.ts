import { randomInt } from 'node:crypto';
import type { SecretDigest } from '../../../infrastructure/crypto/index.js';
import { typedCode } from '../../../infrastructure/validation/index.js';

/** RFC 8628, section 6.1: only consonants, so that codes do not form words, and no digits. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
/** 20^8 codes are 34 bits. An IP address may try 20 codes per hour. */
const LENGTH = 8;
const USER_CODE = new RegExp(`^[${LETTERS}]{${LENGTH}}$`);
const HALF = `[${LETTERS}]{${LENGTH / 2}}`;
/** The pattern of codes as they are displayed. */
export const DISPLAYED_USER_CODE = `^${HALF}-${HALF}$`;

/** Returns a random user code without the dash that is shown in the middle. */
export function generateUserCode(): string {
  return Array.from({ length: LENGTH }, () => LETTERS.charAt(randomInt(LETTERS.length))).join('');
}

/** Returns the code as it is displayed: `WDJB-MJHT`. */
export function formatUserCode(code: string): string {
  return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;
}

/**
 * Reads a code that a user typed, in any case and with any punctuation (RFC 8628, section 6.1).
 *
 * @returns undefined if the text cannot be a user code
 */
export function parseUserCode(text: string): string | undefined {
  const code = typedCode(text);
  return USER_CODE.test(code) ? code : undefined;
}

/** Returns whether the user typed nothing that could be a part of a code. */
export function isBlankUserCode(text: string): boolean {
  return typedCode(text) === '';
}

/** Returns the keyed digest under which a user code is stored. */
export function digestOfUserCode(digest: SecretDigest, userCode: string): Buffer {
  return digest.of(`user code ${userCode}`);
}

/** Returns the `owner` argument for `Sealer`: the device authorization that the encrypted code is bound to. */
export function ownerOfUserCode(id: string): string[] {
  return ['device_authorization', id];
}
