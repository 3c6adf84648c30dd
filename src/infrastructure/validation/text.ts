import { OperatorError } from '../errors/index.js';
import { MESSAGES } from './messages.js';

/** Returns whether a value counts as missing: absent, `null` or blank (specification, "Messages"). */
export function isMissing(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}

/** Returns whether PostgreSQL can store the text: it contains neither U+0000 nor half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** Returns whether the text has at most `limit` Unicode code points (specification, "Every response"). */
export function hasAtMostCharacters(text: string, limit: number): boolean {
  // A code point has one or two UTF-16 units. Only between these bounds, code points need counting, which costs 50 ms per MiB.
  return text.length <= limit || (text.length <= 2 * limit && [...text].length <= limit);
}

/** Returns the beginning of the text: at most `limit` Unicode code points. */
export function firstCharacters(text: string, limit: number): string {
  const beginning = text.slice(0, 2 * limit);
  return text.length <= limit ? text : [...beginning].slice(0, limit).join('');
}

/**
 * Validates text that is not itself a DTO property, such as an item of an array, and returns the error message.
 *
 * @param field name of the value as messages spell it
 * @returns undefined for storable text within the limit
 */
export function validateText(field: string, value: unknown, limit = Infinity): string | undefined {
  if (typeof value !== 'string') return MESSAGES.string(field);
  if (!isStorable(value)) return MESSAGES.storable(field);
  return hasAtMostCharacters(value, limit) ? undefined : MESSAGES.maxCharacters(field, limit);
}

/** Returns the letters and digits of a code that a user typed: in upper case, and in ASCII. */
export function typedCode(text: string): string {
  return withAsciiDigits(text)
    .toUpperCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** Keyboards for Chinese, Japanese and Korean write digits in full width, and those for Arabic and Indian languages have digits of their own. */
export function withAsciiDigits(text: string): string {
  return text.normalize('NFKC').replaceAll(/\p{Nd}/gu, (digit) => String(digitOf(digit)));
}

/** Returns the value of a decimal digit. In Unicode, those of a script follow each other from 0 to 9. */
function digitOf(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  let value = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value += 1;
  return value;
}

const MAX_NAME_LENGTH = 256;

/**
 * Validates a name that an operator entered: 1 to 256 characters.
 *
 * @param owner what the name belongs to, as in the message, such as `a user`
 * @throws OperatorError if the name is blank or too long
 */
export function validateName(owner: string, name: string): void {
  if (name.trim() !== '' && hasAtMostCharacters(name, MAX_NAME_LENGTH)) return;
  throw new OperatorError(`The name of ${owner} must have 1 to ${MAX_NAME_LENGTH} characters.`);
}
