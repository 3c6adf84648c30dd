import type { OpenAPIObject, SchemaObject } from '@nestjs/swagger';
import { operationsOf } from './operations-of.js';

interface Parameter {
  readonly in: string;
  required?: boolean;
  example?: unknown;
  schema: SchemaObject;
  /** @nestjs/swagger leaves a reference to an enumeration here instead of in the schema. */
  allOf?: readonly SchemaObject[];
}

interface Body {
  required?: boolean;
  readonly content: Readonly<Record<string, { readonly schema: SchemaObject; example?: unknown }>>;
}

/**
 * Prepares requests for viewers, which fill in examples: what they send should work. IDs of the examples do not exist, so
 * they are not filled in where they can be left out. Also states which bodies are required.
 */
export function completeRequests(document: OpenAPIObject): void {
  const schemas = (document.components?.schemas ?? {}) as Readonly<Record<string, SchemaObject>>;
  for (const operation of operationsOf(document)) {
    const { parameters = [] } = operation as { parameters?: Parameter[] };
    for (const parameter of parameters) placeExample(parameter);
    if (parameters.length === 0) delete operation.parameters;
    const { content = {}, ...body } = (operation.requestBody ?? {}) as Partial<Body>;
    for (const media of Object.values(content)) {
      const name = /[^/]+$/.exec((media.schema as { $ref?: string }).$ref ?? '')?.[0] ?? '';
      const schema = schemas[name];
      if (schema === undefined) continue;
      const required = (schema.required ?? []).length > 0;
      operation.requestBody = { ...body, required, content };
      const example = exampleOf(schema);
      if (example !== undefined) media.example = example;
    }
  }
}

/** Viewers fill in `example`, but not `examples` of a schema. */
function placeExample(parameter: Parameter): void {
  if (parameter.required === false) delete parameter.required;
  const { example: inSchema, ...ownSchema } = parameter.schema;
  const { example = inSchema as unknown, allOf: [enumeration] = [] } = parameter;
  delete parameter.example;
  delete parameter.allOf;
  parameter.schema = enumeration ?? ownSchema;
  if (example === undefined) return;
  if (parameter.required === true && parameter.in === 'query') parameter.example = example;
  else if (enumeration === undefined) parameter.schema.examples = [example];
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
