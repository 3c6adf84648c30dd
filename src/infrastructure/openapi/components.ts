import { isDeepStrictEqual } from 'node:util';
import type { OpenAPIObject } from '@nestjs/swagger';

type ComponentsObject = NonNullable<OpenAPIObject['components']>;
export type Part = Readonly<Record<string, unknown>>;
type Parts = Readonly<Record<string, Part>>;

const REFERENCE = /"#\/components\/(\w+)\/([^"/]+)"/g;

/** The parts of operations that have a name, because several operations share them or generated clients name them. */
export class Components {
  readonly parts = {
    parameters: {} as Record<string, Part>,
    headers: {} as Record<string, Part>,
    examples: {} as Record<string, Part>,
    responses: {} as Record<string, Part>,
  };

  /**
   * Adds a part unless it is there.
   *
   * @param description replaces that of the part in this operation
   * @returns a reference to the part
   * @throws Error if another part has the name
   */
  add(
    kind: keyof Components['parts'],
    name: string,
    part: Part,
    description = part['description'],
  ): { readonly $ref: string } {
    const known = this.parts[kind][name];
    if (known !== undefined && !isDeepStrictEqual(known, part))
      throw new Error(`Two ${kind} of the API document are called ${name}: rename one of them.`);
    this.parts[kind][name] = part;
    const $ref = `#/components/${kind}/${name}`;
    return description === part['description'] ? { $ref } : ({ $ref, description } as { $ref: string });
  }
}

/**
 * Returns the components that the document refers to, directly or through others, sorted by name.
 *
 * @throws Error if a component does not exist
 */
export function usedComponents({ paths, webhooks, components = {} }: OpenAPIObject): ComponentsObject {
  const { securitySchemes, ...known } = components as Readonly<Record<string, Parts>>;
  const used: Record<string, Record<string, Part>> = Object.fromEntries(
    Object.keys(known).map((kind) => [kind, {}]),
  );
  const visit = (node: unknown): void => {
    for (const [reference, kind = '', name = ''] of JSON.stringify(node).matchAll(REFERENCE)) {
      const part = known[kind]?.[name];
      if (part === undefined) throw new Error(`The API document lacks ${reference}.`);
      if (used[kind] === undefined || name in used[kind]) continue;
      used[kind][name] = part;
      visit(part);
    }
  };
  visit([paths, webhooks]);
  const parts = Object.entries(used).map(([kind, each]) => [
    kind,
    Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1))),
  ]);
  return { ...(securitySchemes && { securitySchemes }), ...Object.fromEntries(parts) };
}
