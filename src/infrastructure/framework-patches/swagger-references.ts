/** A schema, or another part of an API document. */
type Part = Readonly<Record<string, unknown>>;

/**
 * Written for @nestjs/swagger 12.0.2. Evidence: docs/decisions/0024-openapi-3.0.md.
 *
 * Returns a schema of an OpenAPI 3.1 document with what @nestjs/swagger writes for references replaced:
 *
 * - `allOf: [{ $ref }]` becomes `$ref`. OpenAPI 3.0 did not allow other members next to `$ref`; since 3.1, `allOf` only
 *   suggests inheritance to readers and generators.
 * - `anyOf: [{ $ref }, { type: 'null' }]` becomes `oneOf`, because a value cannot match both.
 */
export function withReferences<Schema>(schema: Schema): Schema {
  if (Array.isArray(schema)) return schema.map(withReferences) as Schema;
  if (typeof schema !== 'object' || schema === null) return schema;
  const { allOf, anyOf, ...rest } = schema as { allOf?: Part[]; anyOf?: Part[] };
  const isReference = allOf?.length === 1 && '$ref' in (allOf[0] ?? {});
  const isNullable = anyOf?.some(({ type }) => type === 'null');
  const written = isReference ? { ...allOf[0], ...rest } : isNullable ? { oneOf: anyOf, ...rest } : schema;
  return Object.fromEntries(
    Object.entries(written).map(([name, value]) => [name, withReferences(value as unknown)]),
  ) as Schema;
}
