import type { ApiPropertyOptions } from '@nestjs/swagger';
import {
  Field,
  firstViolation,
  isString,
  maximumCharacters,
  type Rule,
} from '../../infrastructure/validation/index.js';

/** Keys and values of the integrator, returned in the webhooks of the session. */
export type SessionMetadata = Readonly<Record<string, string>>;

/** Specification, "Session metadata". */
const MAX_KEYS = 10;
const MAX_VALUE_LENGTH = 500;
/** Not in the specification. Without it, a key of half a megabyte would be sent with every webhook. */
const MAX_KEY_LENGTH = 500;

/** Keys that error messages may quote; others are free text. */
const QUOTABLE_KEY = /^[\w.-]{1,64}$/;
const VALUE_RULES = [isString, maximumCharacters(MAX_VALUE_LENGTH)];
const KEY_RULES = [isString, maximumCharacters(MAX_KEY_LENGTH)];

const isObject: Rule = (value, { words }) =>
  typeof value === 'object' && !Array.isArray(value) ? undefined : `The ${words} field must be an object.`;

const hasFewKeys: Rule = (value, { words }) =>
  Object.keys(value as object).length > MAX_KEYS
    ? `The ${words} field must not have more than ${MAX_KEYS} keys.`
    : undefined;

const hasGoodMembers: Rule = (value, { words, object }) => {
  for (const [key, each] of Object.entries(value as object)) {
    const message =
      firstViolation(key, { words: `${words} keys`, object }, KEY_RULES) ??
      firstViolation(
        each,
        { words: QUOTABLE_KEY.test(key) ? `${words}.${key}` : `${words} values`, object },
        VALUE_RULES,
      );
    if (message !== undefined) return message;
  }
  return undefined;
};

/** Validates and documents an optional metadata field. @param more added to its description */
export function Metadata(more: string): PropertyDecorator {
  return Field({
    required: false,
    ownNames: true,
    rules: [isObject, hasFewKeys, hasGoodMembers],
    document: {
      type: 'object',
      additionalProperties: { type: 'string', maxLength: MAX_VALUE_LENGTH },
      propertyNames: { maxLength: MAX_KEY_LENGTH },
      maxProperties: MAX_KEYS,
      description:
        'Your own keys and values, echoed as `data.metadata` in every webhook of the session: at most ' +
        `${MAX_KEYS} keys, each value a string of at most ${MAX_VALUE_LENGTH} characters. ${more}`,
      example: { order: '4711' },
    } as unknown as ApiPropertyOptions,
  });
}

/** Merges metadata. Values of the second part win. Any key is safe, also `__proto__`. */
export function merged(first: SessionMetadata, second: SessionMetadata): SessionMetadata {
  return Object.fromEntries([...Object.entries(first), ...Object.entries(second)]);
}

/** Returns what is wrong with metadata that was merged from valid parts, or `undefined`. */
export function validateMergedMetadata(metadata: SessionMetadata): string | undefined {
  return hasFewKeys(metadata, { words: 'metadata', object: {} });
}
