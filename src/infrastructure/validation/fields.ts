import { ENVIRONMENTS } from '../config/index.js';
import { Field, type FieldOptions } from './field.js';
import type { Rule } from './rule.js';
import { isInteger, isOneOf, isString, isTimestamp, maximum, maximumCharacters, minimum } from './rules.js';

export const EXTERNAL_USER_ID_LENGTH = 256;

/** The caller's own identifier for one of its users. */
export function ExternalUserId(options: Pick<FieldOptions, 'required' | 'in'> = {}): PropertyDecorator {
  return Field({
    ...options,
    rules: [isString, maximumCharacters(EXTERNAL_USER_ID_LENGTH)],
    document: {
      type: String,
      description: 'Your own identifier for the user: at most 256 characters.',
      minLength: 1,
      maxLength: EXTERNAL_USER_ID_LENGTH,
      example: 'user-8f3a',
    },
  });
}

/** One of the two environments. */
export function Environment(description: string, options: Pick<FieldOptions, 'in'> = {}): PropertyDecorator {
  return Field({
    ...options,
    rules: [isOneOf(ENVIRONMENTS)],
    document: { enum: [...ENVIRONMENTS], description, example: 'production' },
  });
}

/** An end of the period that a list is about. */
export function TimeBound(
  description: string,
  example: string,
  rules: readonly Rule[] = [],
): PropertyDecorator {
  return Field({
    in: 'query',
    required: false,
    rules: [isTimestamp, ...rules],
    document: { type: String, format: 'date-time', description, example },
  });
}

interface IntegerOptions extends Pick<FieldOptions, 'default'> {
  readonly description: string;
  readonly example: number;
  readonly from?: number;
  readonly to?: number;
}

/** Digits, which in a query string are a number (contract, "Messages"). */
export function IntegerInQuery({ from, to, ...options }: IntegerOptions): PropertyDecorator {
  const { description, example } = options;
  return Field({
    in: 'query',
    required: false,
    ...(options.default === undefined ? {} : { default: options.default }),
    read: integerOf,
    rules: [
      isInteger,
      ...(from === undefined ? [] : [minimum(from)]),
      ...(to === undefined ? [] : [maximum(to)]),
    ],
    document: {
      type: 'integer',
      ...(from === undefined ? {} : { minimum: from }),
      ...(to === undefined ? {} : { maximum: to }),
      description,
      example,
    },
  });
}

/** Text that is no integer, or none that JSON could carry exactly, stays text. */
function integerOf(text: unknown): unknown {
  const number = typeof text === 'string' && /^-?\d{1,16}$/.test(text) ? Number(text) : undefined;
  return number !== undefined && Number.isSafeInteger(number) ? number : text;
}
