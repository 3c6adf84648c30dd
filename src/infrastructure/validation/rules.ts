import { isEmail, isURL, isUUID } from 'class-validator';
import { firstViolation, isMissing, required, wordsOf, type Rule } from './rule.js';

/** A string that PostgreSQL can store: no U+0000, no half of a surrogate pair. */
export const isString: Rule = (value, { words }) => {
  if (typeof value !== 'string') return `The ${words} field must be a string.`;
  if (value.includes('\0') || !value.isWellFormed()) {
    return `The ${words} field must not contain null characters or unpaired surrogates.`;
  }
  return undefined;
};

/** Characters are Unicode code points (contract, "Every response"). */
export function maximumCharacters(maximum: number): Rule {
  return (value, { words }) => {
    const text = value as string;
    // Counting is needed only where UTF-16 units alone exceed the limit.
    if (text.length <= maximum || [...text].length <= maximum) return undefined;
    return `The ${words} field must not be greater than ${maximum} characters.`;
  };
}

/** A JSON number without a fraction; a number in a string is not one. */
export const isInteger: Rule = (value, { words }) =>
  Number.isInteger(value) ? undefined : `The ${words} field must be an integer.`;

/** The least value that is allowed. */
export function minimum(limit: number): Rule {
  return (value, { words }) =>
    (value as number) < limit ? `The ${words} field must be at least ${limit}.` : undefined;
}

/** The greatest value that is allowed. */
export function maximum(limit: number): Rule {
  return (value, { words }) =>
    (value as number) > limit ? `The ${words} field must not be greater than ${limit}.` : undefined;
}

/** `true` or `false`; a word or number is neither. */
export const isBoolean: Rule = (value, { words }) =>
  typeof value === 'boolean' ? undefined : `The ${words} field must be true or false.`;

/** One of a few words. */
export function isOneOf(values: readonly string[]): Rule {
  return (value, { words }) =>
    values.includes(value as string) ? undefined : `The selected ${words} is invalid.`;
}

/** An e-mail address. */
export const isEmailAddress: Rule = (value, { words }) =>
  isEmail(value) ? undefined : `The ${words} field must be a valid email address.`;

const WEB_URL = { protocols: ['http', 'https'], require_protocol: true, validate_length: false };

/** An http or https URL with a host name. */
export const isWebUrl: Rule = (value, { words }) =>
  isURL(value as string, WEB_URL) ? undefined : `The ${words} field must be a valid http or https URL.`;

/** ITU-T E.164: a plus sign, a country code that does not begin with 0, at most 15 digits. */
const E164 = /^\+[1-9]\d{1,14}$/;

export const isE164: Rule = (value, { words }) =>
  typeof value === 'string' && E164.test(value) ? undefined : `The ${words} format is invalid.`;

/** A JSON object. */
export const isObject: Rule = (value, { words }) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? undefined
    : `The ${words} field must be an object.`;

/** A JSON array. */
export const isArray: Rule = (value, { words }) =>
  Array.isArray(value) ? undefined : `The ${words} field must be an array.`;

/** An array without items counts as missing where items are what is asked for. */
export const isNotEmpty: Rule = (value, field) =>
  (value as unknown[]).length === 0 ? required(field) : undefined;

/** The most items that an array may have. */
export function maximumItems(limit: number): Rule {
  return (value, { words }) =>
    (value as unknown[]).length > limit
      ? `The ${words} field must not have more than ${limit} items.`
      : undefined;
}

/** Every item must be present and keep the rules; the first that does not is named by its index. */
export function eachItem(rules: readonly Rule[]): Rule {
  return (value, { words, object }) => {
    for (const [index, item] of (value as unknown[]).entries()) {
      const field = { words: `${words}.${index}`, object };
      const message = isMissing(item) ? required(field) : firstViolation(item, field, rules);
      if (message !== undefined) return message;
    }
    return undefined;
  };
}

const TIMESTAMP = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?Z$/;

/** ISO 8601 in UTC to the second or finer (contract, "Every response"). 31 February is refused, not moved. */
export const isTimestamp: Rule = (value, { words }) => {
  const time = typeof value === 'string' && TIMESTAMP.test(value) ? new Date(value) : undefined;
  const exists =
    time !== undefined &&
    !Number.isNaN(time.getTime()) &&
    time.toISOString().slice(0, 19) === (value as string).slice(0, 19);
  return exists ? undefined : `The ${words} field must be a date and time such as 2026-01-31T08:15:30Z.`;
};

/** A time that is not before that of the field of this name; both are known to be timestamps, or absent. */
export function isNotBefore(name: string): Rule {
  return (value, { words, object }) =>
    !isMissing(object[name]) && Date.parse(value as string) < Date.parse(object[name] as string)
      ? `The ${wordsOf(name)} field must not be after the ${words} field.`
      : undefined;
}

/** A UUID of any version. */
export const isUuid: Rule = (value, { words }) =>
  isUUID(value) ? undefined : `The ${words} field must be a UUID.`;
