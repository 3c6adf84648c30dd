import type { SchemaObject } from '@nestjs/swagger';
import { isObject, isUUID } from 'class-validator';
import { namedSchema, type Enumeration } from '../../../infrastructure/schemas/index.js';
import { MESSAGES, validateItems, validateText } from '../../../infrastructure/validation/index.js';

/**
 * A part of a payload: its type for the compiler, its schema and an example for the documents, and a check of values
 * that clients choose.
 */
export interface Shape<Value> {
  readonly schema: SchemaObject;
  readonly example: Value;
  /** Returns the message about the first problem of a value, which messages call `field`. */
  readonly validate: (value: unknown, field: string) => string | undefined;
}

/** Limits of values that clients choose. */
const MAX_TEXT_LENGTH = 500;
const MAX_LIST_LENGTH = 100;

export type ValueOf<Any> = Any extends Shape<infer Value> ? Value : never;

export type Fields = Readonly<Record<string, Shape<unknown>>>;
type ObjectOf<Of extends Fields> = { readonly [Name in keyof Of]: ValueOf<Of[Name]> };

export function text(description: string, example: string): Shape<string> {
  return {
    schema: { type: 'string', description },
    example,
    validate: (value, field) => validateText(field, value, MAX_TEXT_LENGTH),
  };
}

export function uuid(description: string, example: string): Shape<string> {
  return {
    schema: { type: 'string', format: 'uuid', description },
    example,
    validate: (value, field) => (isUUID(value) ? undefined : MESSAGES.uuid(field)),
  };
}

export function integer(description: string, example: number): Shape<number> {
  return {
    schema: { type: 'integer', description },
    example,
    validate: (value, field) => (Number.isInteger(value) ? undefined : MESSAGES.integer(field)),
  };
}

/** Always the same string. */
export function constant<const Value extends string>(value: Value, description: string): Shape<Value> {
  return {
    schema: { type: 'string', const: value, description } as SchemaObject,
    example: value,
    validate: (given, field) => (given === value ? undefined : MESSAGES.selected(field, [value])),
  };
}

/** One of the values of an enumeration. */
export function word<Value extends string>(
  { values, reference }: Enumeration<Value>,
  description: string,
  example: Value,
): Shape<Value> {
  return {
    schema: { allOf: [reference], description },
    example,
    validate: (value, field) =>
      values.includes(value as Value) ? undefined : MESSAGES.selected(field, values),
  };
}

export function orNull<Value>({ schema, example, validate }: Shape<Value>): Shape<Value | null> {
  return {
    schema: { ...schema, type: [String(schema.type), 'null'] },
    example,
    validate: (value, field) => (value === null ? undefined : validate(value, field)),
  };
}

export function list<Value>(item: Shape<Value>, description: string): Shape<readonly Value[]> {
  return {
    schema: { type: 'array', items: item.schema, description },
    example: [item.example],
    validate: (value, field) => {
      if (!Array.isArray(value)) return MESSAGES.array(field);
      if (value.length > MAX_LIST_LENGTH) return MESSAGES.maxItems(field, MAX_LIST_LENGTH);
      return validateItems(value, field, item.validate);
    },
  };
}

/** Gives the schema of a shape a name. @param description of the part that has this shape */
export function named<Value>(name: string, { schema, ...shape }: Shape<Value>): Shape<Value> {
  const { description } = schema;
  return { ...shape, schema: { allOf: [namedSchema(name, schema)], ...(description && { description }) } };
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
    validate: (value, field) =>
      validateObject(value, field) ?? validateMembers(value as object, field, fields),
  };
}

function validateObject(value: unknown, field: string): string | undefined {
  return isObject(value) ? undefined : MESSAGES.object(field);
}

function validateMembers(value: object, field: string, members: Fields): string | undefined {
  for (const [name, { validate }] of Object.entries(members)) {
    const member = (value as Readonly<Record<string, unknown>>)[name];
    const path = `${field}.${name.replaceAll('_', ' ')}`;
    const message = member === undefined ? MESSAGES.required(path) : validate(member, path);
    if (message !== undefined) return message;
  }
  return undefined;
}

/** An object without fields. `object({})` would be of the type `{}`, which takes anything. */
export function nothing(description: string): Shape<Readonly<Record<string, never>>> {
  return { schema: { type: 'object', description }, example: {}, validate: validateObject };
}
