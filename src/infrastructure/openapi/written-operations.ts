import type { Type } from '@nestjs/common';
import { getSchemaPath, type OpenAPIObject, type SchemaObject } from '@nestjs/swagger';
import { ServiceConfiguration, type Surface } from '../config/index.js';
import { conditionsOf, fieldOf, type ConditionalPresence } from '../validation/index.js';
import type { Components, Part } from './components.js';
import {
  resolveDescription,
  responsesOf,
  type BodyVariants,
  type ConfigurationOf,
  type DocumentedRoute,
} from './operation.js';

export type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;

/** The headings of the surfaces, in their order. */
const SURFACE_NAMES: Readonly<Record<Surface, string>> = {
  platform: 'Platform API',
  connector: 'Agent connector',
  dashboard: 'Dashboard API',
  careers: 'Careers',
  internal: 'Internal API',
};

interface Parameter {
  readonly name: string;
  readonly in: string;
  required?: boolean;
  example?: unknown;
  schema: SchemaObject;
}

interface Body {
  readonly content: Readonly<Record<string, { readonly schema: object; example?: unknown }>>;
}

/** A route, and the classes of the parameters of its handler. */
export interface DiscoveredRoute extends DocumentedRoute {
  readonly parameters: readonly unknown[];
}

interface Context {
  readonly schemas: Record<string, SchemaObject>;
  readonly components: Components;
  readonly configurationOf: ConfigurationOf;
}

/**
 * Returns an operation of @nestjs/swagger with everything that its route documents. Its tag is made of the surface and the
 * topic, such as `Platform API · MCP tokens`: Swagger UI does not support groups of tags.
 */
export function writtenOperation(
  { operationId, parameters = [], requestBody, security, summary, tags = [] }: Operation,
  { surface, operation, parameters: classes }: DiscoveredRoute,
  { schemas, components, configurationOf }: Context,
): Operation {
  const { pathParameters = {}, headerParameters = {}, body, bodyVariants } = operation;
  const described = (parameters as Parameter[]).map((parameter) => {
    const part = writtenParameter(parameter, exampleOfField(parameter.name, classes)) as unknown as Part;
    const name = { ...pathParameters, ...headerParameters }[parameter.name]?.component;
    return name === undefined ? part : components.add('parameters', name, part);
  });
  const url = configurationOf(ServiceConfiguration).publicUrlOf(surface);
  const written = {
    operationId,
    ...(operation.repeatable && { 'x-repeatable': operation.repeatable }),
    ...(operation.scope !== undefined && { 'x-scope': operation.scope }),
    ...(described.length > 0 && { parameters: described }),
    ...(body && { requestBody: writtenBody(requestBody as Body, body, schemas, bodyVariants) }),
    responses: responsesOf(operation, classes, components),
    security,
    summary,
    tags: [[SURFACE_NAMES[surface], ...tags].join(TAG_SEPARATOR)],
    description: resolveDescription(operation.description, configurationOf),
    ...(url !== undefined && { servers: [{ url, description: SURFACE_NAMES[surface] }] }),
  };
  return written as unknown as Operation;
}

export const TAG_SEPARATOR = ' · ';

/** Returns the example of a field of one of the classes. @nestjs/swagger drops that of an enumeration. */
function exampleOfField(name: string, classes: readonly unknown[]): unknown {
  return classes
    .map((type) => typeof type === 'function' && fieldOf(type.prototype as object, name)?.example)
    .find(Boolean);
}

/** Viewers fill in `example`, but not `examples` of a schema: what they send should work, and IDs of examples do not exist. */
function writtenParameter(
  { name, schema, example: own, required, ...parameter }: Parameter,
  exampleInField: unknown,
): object {
  const { example: inSchema, ...ownSchema } = schema;
  const example = own ?? (inSchema as unknown) ?? exampleInField;
  const isFilledIn = required === true && parameter.in === 'query' && example !== undefined;
  const examples = !isFilledIn && !('$ref' in schema) && example !== undefined ? { examples: [example] } : {};
  return {
    name,
    ...(required === true && { required }),
    ...parameter,
    schema: { ...ownSchema, ...examples },
    ...(isFilledIn && { example }),
  };
}

/** Returns the body with whether it is required and an example, and adds the conditions between its fields to its schema. */
function writtenBody(
  { content }: Body,
  type: Type,
  schemas: Record<string, SchemaObject>,
  variants: BodyVariants | undefined,
): { readonly required: boolean; readonly content: object } {
  const schema = schemas[type.name] as SchemaObject;
  for (const [field, condition] of conditionsOf(type)) Object.assign(schema, conditionOf(field, condition));
  const example = variants ? writeVariants(type.name, variants, schemas) : exampleOf(schema);
  const media = Object.entries(content).map(([name, each]) => [
    name,
    { ...each, ...(example !== undefined && { example }) },
  ]);
  return { required: (schema.required ?? []).length > 0, content: Object.fromEntries(media) };
}

/**
 * Replaces the schema of a class with one schema for each of its variants. Their names in `schemas` are new.
 *
 * @returns the example of the class, with the fields of its variant
 */
function writeVariants(
  name: string,
  { property, variants }: BodyVariants,
  schemas: Record<string, SchemaObject>,
): object | undefined {
  const { properties: all = {} } = schemas[name] as { readonly properties?: Record<string, SchemaObject> };
  let example: object | undefined;
  for (const { value, schema, description, required, optional, properties } of variants) {
    const fields = Object.keys(all).filter((field) => [...required, ...optional].includes(field));
    if (all[property]?.example === value)
      example = Object.fromEntries(fields.map((field) => [field, all[field]?.example as unknown]));
    const propertyOf = (field: string): SchemaObject => {
      const { description: own, example: _, type, ...rest } = properties[field] ?? all[field] ?? {};
      if (field === property)
        return { type: 'string', const: value, description: own } as unknown as SchemaObject;
      // The type of an optional field includes null.
      const [first = type] = required.includes(field) && Array.isArray(type) ? (type as string[]) : [];
      return { ...(first !== undefined && { type: first }), ...rest, description: own } as SchemaObject;
    };
    schemas[schema] = {
      type: 'object',
      description,
      properties: Object.fromEntries(fields.map((field) => [field, propertyOf(field)])),
      required: [...required],
    };
  }
  const references = variants.map(({ value, schema }) => [value, getSchemaPath(schema)] as const);
  schemas[name] = {
    oneOf: references.map(([, $ref]) => ({ $ref })),
    discriminator: { propertyName: property, mapping: Object.fromEntries(references) },
    description: `The body. \`${property}\` names its type.`,
  };
  return example;
}

/**
 * Returns an example without optional IDs and without optional fields that have no example; undefined if viewers can use
 * the examples of the properties. They do not find examples next to references.
 */
function exampleOf({ properties = {}, required = [] }: SchemaObject): object | undefined {
  const fields = Object.entries(properties as Record<string, SchemaObject>);
  const isOmitted = ([name, field]: [string, SchemaObject]): boolean =>
    !required.includes(name) && (field.format === 'uuid' || !('example' in field));
  const isFound = fields.some(([, field]) => 'example' in field && !('allOf' in field));
  if (isFound && !fields.some(isOmitted)) return undefined;
  return Object.fromEntries(
    fields.filter((field) => !isOmitted(field)).map(([name, { example }]) => [name, example as unknown]),
  );
}

/** Returns the condition of an object that requires a field if another one is missing or has a certain value. */
function conditionOf(field: string, condition: ConditionalPresence): object {
  if ('unless' in condition) return { if: isPresent(condition.unless), else: isPresent(field) };
  const { when, is } = condition;
  const description = 'The other field that decides.';
  return {
    if: { required: [when], properties: { [when]: { const: is, description } } },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: isPresent(field),
  };
}

/** `null` counts as missing. */
function isPresent(field: string): object {
  const description = 'Present, and not null.';
  return { required: [field], properties: { [field]: { type: 'string', description } } };
}
