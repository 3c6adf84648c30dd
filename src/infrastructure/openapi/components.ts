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

/** Marks a part of an operation as a component. `nameComponents` replaces the part with a reference. */
const MARK = 'x-component';

/**
 * Returns the mark of a part that several operations share.
 *
 * @param name name of the component; undefined if the part belongs to one operation
 * @param description replaces that of the component in this operation
 */
export function componentOf(name: string | undefined, description?: string): object {
  return name === undefined ? {} : { [MARK]: { name, description } satisfies Mark };
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
  const parts: ComponentsObject = { ...document.components, ...components.sorted() };
  const schemas = usedSchemas({ ...document, components: parts }) as ComponentsObject['schemas'];
  return { ...document, components: { ...parts, schemas } };
}

class Components {
  private readonly all: Record<Kind, Record<string, Part>> = {
    parameters: {},
    headers: {},
    examples: {},
    responses: {},
  };

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

  sorted(): Pick<ComponentsObject, Kind> {
    return Object.fromEntries(Object.entries(this.all).map(([kind, parts]) => [kind, sortedByName(parts)]));
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

/** Returns the schemas that the document refers to, directly or through other schemas. */
function usedSchemas(document: OpenAPIObject): Parts {
  const known = { ...document.components?.schemas, ...namedSchemas() } as Parts;
  const { schemas: _, ...components } = document.components ?? {};
  const used: Record<string, Part> = {};
  const visit = (node: unknown): void => {
    for (const [, name = ''] of JSON.stringify(node).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      const schema = known[name];
      if (schema === undefined) throw new Error(`The API document has no schema called ${name}.`);
      if (name in used) continue;
      used[name] = schema;
      visit(schema);
    }
  };
  visit([document.paths, document.webhooks, components]);
  return sortedByName(used);
}

function mapParts(parts: Parts, change: (part: Part, name: string) => Part): Parts {
  return Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, change(part, name)]));
}

function sortedByName(parts: Parts): Parts {
  return Object.fromEntries(Object.entries(parts).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
