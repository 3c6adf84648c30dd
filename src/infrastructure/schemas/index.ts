import { isDeepStrictEqual } from 'node:util';
import { getSchemaPath, type SchemaObject } from '@nestjs/swagger';
import { z } from 'zod';

/** A reference to a named schema, for use in other schemas. */
export interface SchemaReference {
  readonly $ref: string;
}

/** The largest value of 32 bits, which generated clients assume for an integer without a format. */
export const MAX_INT32 = 2_147_483_647;

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
 * Names a set of strings, which may grow until the API document is built.
 *
 * @param name name of the schema and of the type in generated clients, such as `Environment`
 * @param description says in the API document what the set is for
 * @param names of the constants in generated clients (oapi-codegen, NSwag), if a value is the name of one of their own types
 */
export function enumeration<const Value extends string>(
  name: string,
  values: readonly Value[],
  description: string,
  names?: string[],
): Enumeration<Value> {
  const ofConstants = names && { 'x-enumNames': names };
  const reference = namedSchema(name, {
    type: 'string',
    enum: values as Value[],
    ...ofConstants,
    description,
  });
  return { name, description, values, reference };
}

/** The order in which people read the members of a schema. */
const ORDER = [
  '$ref',
  'type',
  'format',
  'const',
  'enum',
  'items',
  'description',
  'properties',
  'required',
  'additionalProperties',
  'propertyNames',
];

/**
 * Returns the JSON Schema of what a sender has to satisfy. In this direction, objects allow other members: a client may
 * keep the schema for a long time, and must not refuse an object that has a new member by then. Parts with an `id` become
 * named schemas.
 */
export function jsonSchemaOf(type: z.ZodType): SchemaObject {
  const {
    $defs: parts = {},
    $schema: _,
    ...schema
  } = z.toJSONSchema(type, { io: 'input', override: shorten });
  for (const [name, part] of Object.entries(parts)) namedSchema(name, withReferences(part, parts));
  return withReferences(schema, parts);
}

/** Zod refers to parts of the same schema, and omits a description next to a reference that repeats that of the part. */
function withReferences(
  schema: object,
  parts: Readonly<Record<string, { readonly description?: string | undefined }>>,
): SchemaObject {
  const text = JSON.stringify(schema)
    .replaceAll(/\{("\$ref":"#\/\$defs\/(\w+)")\}/g, (_, reference: string, name: string) => {
      const description = JSON.stringify(parts[name]?.description);
      return `{${reference},"description":${description}}`;
    })
    .replaceAll('"#/$defs/', '"#/components/schemas/');
  return JSON.parse(text) as SchemaObject;
}

/**
 * Zod adds the limits of JavaScript to each integer, a pattern to each format, and writes each value that can be null as
 * two schemas.
 */
function shorten({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  const [value, empty, ...others] = jsonSchema.anyOf ?? [];
  if (value?.type && !value.enum && empty?.type === 'null' && others.length === 0) {
    delete jsonSchema.anyOf;
    Object.assign(jsonSchema, { ...value, ...jsonSchema, type: [value.type, 'null'] });
  }
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
  const isAnyObject = Object.keys(jsonSchema.properties ?? {}).length === 0;
  if (isAnyObject && jsonSchema.additionalProperties !== false) delete jsonSchema.properties;
  for (const name of [...ORDER, ...Object.keys(jsonSchema).filter((each) => !ORDER.includes(each))]) {
    const { [name]: member } = jsonSchema;
    delete jsonSchema[name];
    if (member !== undefined) jsonSchema[name] = member;
  }
}
