import { isDeepStrictEqual } from 'node:util';
import type { OpenAPIObject } from '@nestjs/swagger';
import { namedSchemas } from '../schemas/index.js';
import { operationsOf, webhooksOf } from './operations-of.js';

type ComponentsObject = NonNullable<OpenAPIObject['components']>;
type Part = Readonly<Record<string, unknown>>;
type Parts = Readonly<Record<string, Part>>;
type Kind = 'examples' | 'headers' | 'parameters' | 'responses';

interface Mark {
  readonly name: string;
  readonly description: string | undefined;
}

const REFERENCE = /"#\/components\/(\w+)\/([^"/]+)"/g;

/** Marks a part of an operation as a component. `nameComponents` replaces the part with a reference. */
const MARK = 'x-component';

/**
 * Returns the mark of a part that several operations share.
 *
 * @param name name of the component
 * @param description replaces that of the component in this operation
 */
export function componentOf(name: string, description?: string): object {
  return { [MARK]: { name, description } satisfies Mark };
}

/**
 * Moves the parts that operations share to `components`: marked parameters, responses and examples, the headers of
 * responses, and the schemas that have a name.
 *
 * @throws Error if two different parts have the same name
 */
export function nameComponents(document: OpenAPIObject): OpenAPIObject {
  const components = new Components();
  for (const operation of [...operationsOf(document), ...webhooksOf(document)]) {
    const { parameters, responses } = operation as unknown as { parameters?: Part[]; responses: Parts };
    Object.assign(operation, {
      ...(parameters && {
        parameters: parameters.map((parameter) => components.share('parameters', parameter)),
      }),
      responses: mapParts(responses, (response) =>
        components.share('responses', nameInsideResponse(response, components)),
      ),
    });
  }
  const named = {
    ...document.components,
    ...components.parts,
    schemas: { ...document.components?.schemas, ...namedSchemas() },
  };
  return { ...document, components: usedComponents({ ...document, components: named }) };
}

class Components {
  private readonly all = {
    parameters: {} as Record<string, Part>,
    headers: {} as Record<string, Part>,
    examples: {} as Record<string, Part>,
    responses: {} as Record<string, Part>,
  };

  get parts(): Pick<ComponentsObject, Kind> {
    return this.all as unknown as Pick<ComponentsObject, Kind>;
  }

  /** @returns a reference to the part if it is marked, otherwise the part */
  share(kind: Kind, { [MARK]: mark, ...part }: Part): Part {
    if (mark === undefined) return part;
    const { name, description = part['description'] } = mark as Mark;
    const reference = this.add(kind, name, part);
    return description === part['description'] ? reference : { ...reference, description };
  }

  /** @returns a reference to the part */
  add(kind: Kind, name: string, part: Part): Part {
    const known = this.all[kind][name];
    if (known !== undefined && !isDeepStrictEqual(known, part))
      throw new Error(`Two ${kind} of the API document are called ${name}: rename one of them.`);
    this.all[kind][name] = part;
    return { $ref: `#/components/${kind}/${name}` };
  }
}

function nameInsideResponse(response: Part, components: Components): Part {
  const { headers, content } = response as { headers?: Parts; content?: Parts };
  return {
    ...response,
    ...(headers && { headers: mapParts(headers, (header, name) => components.add('headers', name, header)) }),
    ...(content && {
      content: mapParts(content, ({ examples, ...media }) => ({
        ...media,
        ...(examples !== undefined && {
          examples: mapParts(examples as Parts, (example) => components.share('examples', example)),
        }),
      })),
    }),
  };
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
  const parts = Object.entries(used).map(([kind, each]) => [kind, sortedByName(each)]);
  return { ...(securitySchemes && { securitySchemes }), ...Object.fromEntries(parts) };
}

function mapParts(parts: Parts, change: (part: Part, name: string) => Part): Parts {
  return Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, change(part, name)]));
}

function sortedByName(parts: Parts): Parts {
  return Object.fromEntries(Object.entries(parts).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
