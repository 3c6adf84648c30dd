import { randomInt } from 'node:crypto';

/** RFC 8628, section 6.1: no vowels, so that no words come up, and no letter that is taken for a digit. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
/** 20^8: 34 bits, of which a guesser gets 20 tries an hour. */
const LENGTH = 8;
const USER_CODE = new RegExp(`^[${LETTERS}]{${LENGTH}}$`);

/** A code for a person to type, without the dash that it is shown with. */
export function generateUserCode(): string {
  return Array.from({ length: LENGTH }, () => LETTERS.charAt(randomInt(LETTERS.length))).join('');
}

/** As people see it: `WDJB-MJHT`. */
export function shownUserCode(code: string): string {
  return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;
}

/**
 * The code that somebody typed, in any case and with any punctuation (RFC 8628, section 6.1).
 *
 * @returns undefined when it can be none
 */
export function parseUserCode(text: string): string | undefined {
  const code = text.toUpperCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
  return USER_CODE.test(code) ? code : undefined;
}
