/**
 * Replaces `allOf: [{ $ref }]` with `$ref`. The library writes the former for a reference with a description, which
 * OpenAPI 3.0 did not allow. In 3.1 it only suggests inheritance to readers and generators.
 */
export function plainReferences<T>(node: T): T {
  if (Array.isArray(node)) return node.map(plainReferences) as T;
  if (typeof node !== 'object' || node === null) return node;
  const { allOf, ...rest } = node as { allOf?: unknown[] };
  const [only] = allOf ?? [];
  const isReference = allOf?.length === 1 && typeof only === 'object' && only !== null && '$ref' in only;
  const plain = isReference ? { ...only, ...rest } : node;
  return Object.fromEntries(
    Object.entries(plain as object).map(([name, value]) => [name, plainReferences(value)]),
  ) as T;
}
