type Node = Readonly<Record<string, unknown>>;

/**
 * Replaces what @nestjs/swagger writes for a reference with a description:
 *
 * - `allOf: [{ $ref }]` becomes `$ref`. OpenAPI 3.0 did not allow other members next to `$ref`; since 3.1, `allOf` only
 *   suggests inheritance to readers and generators.
 * - `anyOf: [{ $ref }, { type: 'null' }]` becomes `oneOf`, because a value cannot match both.
 */
export function plainReferences<T>(node: T): T {
  if (Array.isArray(node)) return node.map(plainReferences) as T;
  if (!isNode(node)) return node;
  return Object.fromEntries(
    Object.entries(plain(node)).map(([name, value]) => [name, plainReferences(value)]),
  ) as T;
}

function plain(node: Node): Node {
  const { allOf, anyOf, ...rest } = node;
  if (Array.isArray(allOf) && allOf.length === 1 && isReference(allOf[0])) return { ...allOf[0], ...rest };
  if (Array.isArray(anyOf) && anyOf.some((option) => isNode(option) && option['type'] === 'null'))
    return { oneOf: anyOf, ...rest };
  return node;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null;
}

function isReference(value: unknown): value is Node {
  return isNode(value) && '$ref' in value;
}
