import type { SchemaObject } from '@nestjs/swagger';
import {
  eachItem,
  isArray,
  isInteger,
  isObject,
  isOneOf,
  isString,
  isUuid,
  maximumCharacters,
  maximumItems,
  firstViolation,
  required,
  wordsOf,
  type Rule,
} from '../../../infrastructure/validation/index.js';

/**
 * A piece of a payload: its type for the compiler, its schema and an example for the documents, and the rules for
 * callers who say what it shall be.
 */
export interface Shape<Value> {
  readonly schema: SchemaObject;
  readonly example: Value;
  readonly rules: readonly Rule[];
}

/** Only of what callers say it shall be. */
const MAX_TEXT_LENGTH = 500;
const MAX_LIST_LENGTH = 100;

export type ValueOf<Any> = Any extends Shape<infer Value> ? Value : never;

export type Fields = Readonly<Record<string, Shape<unknown>>>;
type ObjectOf<Of extends Fields> = { readonly [Name in keyof Of]: ValueOf<Of[Name]> };

export function text(description: string, example: string): Shape<string> {
  return {
    schema: { type: 'string', description },
    example,
    rules: [isString, maximumCharacters(MAX_TEXT_LENGTH)],
  };
}

export function uuid(description: string, example: string): Shape<string> {
  return { schema: { type: 'string', format: 'uuid', description }, example, rules: [isUuid] };
}

export function integer(description: string, example: number): Shape<number> {
  return { schema: { type: 'integer', description }, example, rules: [isInteger] };
}

/** One of a few words. */
export function word<const Words extends readonly string[]>(
  words: Words,
  description: string,
  example: Words[number],
): Shape<Words[number]> {
  return { schema: { type: 'string', enum: [...words], description }, example, rules: [isOneOf(words)] };
}

export function orNull<Value>({ schema, example, rules }: Shape<Value>): Shape<Value | null> {
  return {
    schema: { ...schema, type: [String(schema.type), 'null'] },
    example,
    rules: [(value, field) => (value === null ? undefined : firstViolation(value, field, rules))],
  };
}

export function list<Value>(item: Shape<Value>, description: string): Shape<readonly Value[]> {
  return {
    schema: { type: 'array', items: item.schema, description },
    example: [item.example],
    rules: [isArray, maximumItems(MAX_LIST_LENGTH), eachItem(item.rules)],
  };
}

/** An object with all of these fields. */
export function object<const Of extends Fields>(fields: Of, description: string): Shape<ObjectOf<Of>> {
  const entries = Object.entries(fields);
  return {
    schema: {
      type: 'object',
      description,
      properties: Object.fromEntries(entries.map(([name, { schema }]) => [name, schema])),
      required: Object.keys(fields),
    },
    example: Object.fromEntries(entries.map(([name, { example }]) => [name, example])) as ObjectOf<Of>,
    rules: [isObject, ...entries.map(([name, { rules }]) => memberRule(name, rules))],
  };
}

function memberRule(name: string, rules: readonly Rule[]): Rule {
  return (value, { words, object: owner }) => {
    const member = (value as Readonly<Record<string, unknown>>)[name];
    const field = { words: `${words}.${wordsOf(name)}`, object: owner };
    return member === undefined ? required(field) : firstViolation(member, field, rules);
  };
}

/** An object without fields. `object({})` would be of the type `{}`, which takes anything. */
export function nothing(description: string): Shape<Readonly<Record<string, never>>> {
  return { schema: { type: 'object', description }, example: {}, rules: [isObject] };
}
