import type { ApiPropertyOptions } from '@nestjs/swagger';
import {
  Field,
  firstViolation,
  isString,
  maximumCharacters,
  type Rule,
} from '../../infrastructure/validation/index.js';

/** Own keys and values of the integrator, echoed in the webhooks of the session. */
export type SessionMetadata = Readonly<Record<string, string>>;

/** Specification, "Session metadata". */
const MOST_KEYS = 10;
const LONGEST_VALUE = 500;
/** Not specified; without a limit half a megabyte of a key would be in every webhook. */
const LONGEST_KEY = 500;

/** Keys that a message may show; others are somebody's free text. */
const SHOWN_KEY = /^[\w.-]{1,64}$/;
const VALUE_RULES = [isString, maximumCharacters(LONGEST_VALUE)];
const KEY_RULES = [isString, maximumCharacters(LONGEST_KEY)];

const isObject: Rule = (value, { words }) =>
  typeof value === 'object' && !Array.isArray(value) ? undefined : `The ${words} field must be an object.`;

const hasFewKeys: Rule = (value, { words }) =>
  Object.keys(value as object).length > MOST_KEYS
    ? `The ${words} field must not have more than ${MOST_KEYS} keys.`
    : undefined;

const hasGoodMembers: Rule = (value, { words, object }) => {
  for (const [key, each] of Object.entries(value as object)) {
    const message =
      firstViolation(key, { words: `${words} keys`, object }, KEY_RULES) ??
      firstViolation(
        each,
        { words: SHOWN_KEY.test(key) ? `${words}.${key}` : `${words} values`, object },
        VALUE_RULES,
      );
    if (message !== undefined) return message;
  }
  return undefined;
};

/** Optional metadata within the limits. @param more what else the API document says of it */
export function Metadata(more: string): PropertyDecorator {
  return Field({
    required: false,
    ownNames: true,
    rules: [isObject, hasFewKeys, hasGoodMembers],
    document: {
      type: 'object',
      additionalProperties: { type: 'string', maxLength: LONGEST_VALUE },
      propertyNames: { maxLength: LONGEST_KEY },
      maxProperties: MOST_KEYS,
      description:
        'Your own keys and values, echoed as `data.metadata` in every webhook of the session: at most ' +
        `${MOST_KEYS} keys, each value a string of at most ${LONGEST_VALUE} characters. ${more}`,
      example: { order: '4711' },
    } as unknown as ApiPropertyOptions,
  });
}

/** Both together, whatever the keys are called; of equal keys the second one's values. */
export function merged(first: SessionMetadata, second: SessionMetadata): SessionMetadata {
  return Object.fromEntries([...Object.entries(first), ...Object.entries(second)]);
}

/** What is wrong with merged metadata whose parts were good. */
export function faultOfMerged(metadata: SessionMetadata): string | undefined {
  return hasFewKeys(metadata, { words: 'metadata', object: {} });
}
