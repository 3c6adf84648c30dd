import type { OpenAPIObject } from '@nestjs/swagger';
import { isObject } from 'class-validator';
import { usedComponents } from './components.js';

type Node = Readonly<Record<string, unknown>>;
type Schemas = Readonly<Record<string, { readonly type?: string }>>;

/** Members whose values are data of clients, or strings. */
const DATA = new Set(['default', 'enum', 'example', 'mapping', 'required', 'value']);
/** Members that map names to parts: a property called `type` is not the type of a schema. */
const MAPS = new Set([
  'callbacks',
  'content',
  'examples',
  'headers',
  'paths',
  'properties',
  'responses',
  'schemas',
  'securitySchemes',
]);
/** Keywords that OpenAPI 3.0 does not have: without them, a schema allows more than before. `identifier` is that of a license. */
const UNKNOWN = new Set(['else', 'identifier', 'if', 'propertyNames', 'then']);

/**
 * Converts a document from OpenAPI 3.1 to 3.0, for generators that do not support 3.1: `null` becomes `nullable`, and
 * `const` an `enum`. Examples of bodies and parameters are omitted: strictly, a reference that is `nullable` does not allow
 * the `null` that some of them contain. Conditions between fields and webhooks are omitted, because OpenAPI 3.0 cannot describe them.
 */
export function toVersion30(original: OpenAPIObject): OpenAPIObject {
  const document = { ...original };
  delete document.webhooks;
  const { components = {} } = document;
  const schemas = components.schemas as Schemas;
  const convert = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(convert);
    if (!isObject<Node>(node)) return node;
    const { $ref, ...siblings } = node;
    if (typeof $ref !== 'string') return convertNode(node);
    return Object.keys(siblings).length === 0 ? { $ref } : convertReference($ref, siblings);
  };
  /** OpenAPI 3.0 ignores the members next to `$ref`. */
  const convertReference = ($ref: string, siblings: Node): unknown => {
    const [, response] = /^#\/components\/responses\/(.*)$/.exec($ref) ?? [];
    if (response === undefined) return { $ref };
    return { ...(convert(components.responses?.[response]) as Node), ...siblings };
  };
  const convertNode = (node: Node): Node => {
    const members = Object.entries(withNullable(node, schemas)).filter(
      ([name]) => !UNKNOWN.has(name) && !(name === 'example' && 'schema' in node),
    );
    return Object.fromEntries(
      members.flatMap(([name, value]): [string, unknown][] => {
        if (name === 'const') return [['enum', [value]]];
        if (name === 'examples' && Array.isArray(value)) return [];
        if (DATA.has(name)) return [[name, value]];
        if (MAPS.has(name) && isObject<Node>(value))
          return [
            [name, Object.fromEntries(Object.entries(value).map(([key, part]) => [key, convert(part)]))],
          ];
        return [[name, convert(value)]];
      }),
    );
  };
  const converted = convertNode(document as unknown as Node) as unknown as OpenAPIObject;
  return { ...converted, openapi: '3.0.3', components: usedComponents(converted) };
}

/** Expresses that a value can be null as OpenAPI 3.0 does. */
function withNullable(node: Node, schemas: Schemas): Node {
  const { type, oneOf, ...rest } = node;
  if (Array.isArray(type)) return { ...rest, type: type.find((each) => each !== 'null'), nullable: true };
  if (!Array.isArray(oneOf) || !oneOf.some((each) => isObject<Node>(each) && each['type'] === 'null'))
    return node;
  const [reference] = oneOf as { readonly $ref: string }[];
  const { example, ...others } = rest;
  return {
    ...others,
    ...(example !== null && { example }),
    type: schemas[reference?.$ref.split('/').at(-1) ?? '']?.type,
    allOf: [reference],
    nullable: true,
  };
}
