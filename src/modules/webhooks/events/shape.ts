import type { SchemaObject } from '@nestjs/swagger';

/** A piece of a payload: its type for the compiler, its schema and an example for the documents. */
export interface Shape<Value> {
  readonly schema: SchemaObject;
  readonly example: Value;
}

export type ValueOf<Any> = Any extends Shape<infer Value> ? Value : never;

export type Fields = Readonly<Record<string, Shape<unknown>>>;
type ObjectOf<Of extends Fields> = { readonly [Name in keyof Of]: ValueOf<Of[Name]> };

export function text(description: string, example: string): Shape<string> {
  return { schema: { type: 'string', description }, example };
}

export function uuid(description: string, example: string): Shape<string> {
  return { schema: { type: 'string', format: 'uuid', description }, example };
}

export function integer(description: string, example: number): Shape<number> {
  return { schema: { type: 'integer', description }, example };
}

/** One of a few words. */
export function word<const Words extends readonly string[]>(
  words: Words,
  description: string,
  example: Words[number],
): Shape<Words[number]> {
  return { schema: { type: 'string', enum: [...words], description }, example };
}

export function orNull<Value>({ schema, example }: Shape<Value>): Shape<Value | null> {
  return { schema: { ...schema, type: [String(schema.type), 'null'] }, example };
}

export function list<Value>(item: Shape<Value>, description: string): Shape<readonly Value[]> {
  return { schema: { type: 'array', items: item.schema, description }, example: [item.example] };
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
  };
}

/** An object without fields. `object({})` would be of the type `{}`, which takes anything. */
export function nothing(description: string): Shape<Readonly<Record<string, never>>> {
  return { schema: { type: 'object', description }, example: {} };
}
