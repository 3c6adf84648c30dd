import { isDeepStrictEqual } from 'node:util';
import { getSchemaPath, type SchemaObject } from '@nestjs/swagger';

/** A reference to a named schema, for use in other schemas. */
export interface SchemaReference {
  readonly $ref: string;
}

const schemas = new Map<string, SchemaObject>();

/**
 * Gives a schema a name. The API document contains each named schema that it refers to, once, and generated clients have
 * a type of that name. The schemas of DTO classes have the names of the classes.
 *
 * @throws Error if another schema has the name
 */
export function namedSchema(name: string, schema: SchemaObject): SchemaReference {
  const existing = schemas.get(name);
  if (existing !== undefined && !isDeepStrictEqual(existing, schema))
    throw new Error(`Two schemas are called ${name}: rename one of them.`);
  schemas.set(name, schema);
  return { $ref: getSchemaPath(name) };
}

/** Returns all named schemas by their names. */
export function namedSchemas(): Readonly<Record<string, SchemaObject>> {
  return Object.fromEntries(schemas);
}

/** A fixed set of strings that has a name in the API document. */
export interface Enumeration<Value extends string = string> {
  readonly name: string;
  readonly description: string;
  readonly values: readonly Value[];
  readonly reference: SchemaReference;
}

/**
 * Names a set of strings.
 *
 * @param name name of the schema and of the type in generated clients, such as `Environment`
 * @param description says in the API document what the set is for
 */
export function enumeration<const Value extends string>(
  name: string,
  values: readonly Value[],
  description: string,
): Enumeration<Value> {
  const reference = namedSchema(name, { type: 'string', enum: [...values], description });
  return { name, description, values, reference };
}
