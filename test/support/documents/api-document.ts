import type { ValidateFunction } from 'ajv/dist/2020.js';
import { leaveForReporter } from '../runner/run-directory.js';

interface DocumentedResponse {
  /** The reference to a response that several operations share. */
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, unknown>>;
}

interface Operation {
  readonly operationId: string;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly responses: Readonly<Record<string, DocumentedResponse>>;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** An operation with a body. */
export interface DocumentedBody {
  readonly method: string;
  /** With IDs instead of placeholders. */
  readonly path: string;
  /** The name of a security scheme, or `none`. */
  readonly credentials: string;
  readonly isForm: boolean;
  /** Whether each line of the body may be an item. */
  readonly isBatch: boolean;
  /** The types of the fields. */
  readonly properties: Readonly<Record<string, string>>;
}

interface ApiDocument {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: {
    readonly headers: Record<string, { readonly required?: boolean }>;
    readonly responses: Record<string, DocumentedResponse>;
    readonly schemas: Record<string, Schema>;
  };
}

/** See `api-validators.mjs`. */
const { document, validatorOf, errorsText } = Reflect.get(globalThis, Symbol.for('API validators')) as {
  readonly document: ApiDocument;
  readonly validatorOf: (pointer: string) => ValidateFunction;
  readonly errorsText: (errors: ValidateFunction['errors']) => string;
};

/**
 * Checks a response against the committed API document: the status must be documented, the body valid, and the documented
 * headers present, also those that the document describes for all operations. Responses of paths that are not in the document (health, 404, 405) pass.
 */
export function expectDocumented(
  method: string,
  path: string,
  status: number,
  headers: Headers,
  body: unknown,
): void {
  const template = templateOf(new URL(path, 'http://service').pathname);
  const operation = template === undefined ? undefined : document.paths[template]?.[method.toLowerCase()];
  if (template === undefined || !operation) return;
  const response = resolved(operation.responses[String(status)]);
  if (!response)
    throw new Error(`${operation.operationId} responded with ${status}, which is not documented`);
  const required = Object.keys(response.headers ?? {}).filter(
    (name) => document.components.headers[name]?.required !== false,
  );
  for (const header of [...required, ...commonHeadersOf(operation, status)]) {
    if (!headers.has(header))
      throw new Error(`${operation.operationId} responded with ${status} without ${header}`);
  }
  const mediaType = headers.get('content-type')?.split(';')[0] ?? '';
  if (!response.content?.[mediaType])
    throw new Error(
      `${operation.operationId} responded with ${status} as ${mediaType}, which is not documented`,
    );
  const validate = validatorOf(pointerOf(method, template, status, mediaType));
  if (!validate(body)) {
    throw new Error(
      `${operation.operationId} responded with ${status} with a body that the document does not allow: ` +
        `${errorsText(validate.errors)}\n${JSON.stringify(body)}`,
    );
  }
  leaveForReporter('responses.txt', `${operation.operationId} ${status}`);
}

/** Returns the headers that the introduction of the document promises. The internal API limits nothing but wrong tokens. */
function commonHeadersOf({ responses, security = [] }: Operation, status: number): string[] {
  if (status >= 400) return ['X-Request-Id', 'Link'];
  const isLimited = '429' in responses && !security.some((each) => 'service-token' in each);
  return ['X-Request-Id', ...(isLimited ? ['RateLimit', 'RateLimit-Policy'] : [])];
}

function resolved(response: DocumentedResponse | undefined): DocumentedResponse | undefined {
  const name = response?.$ref?.split('/').at(-1);
  return name === undefined ? response : document.components.responses[name];
}

const TEMPLATES = Object.keys(document.paths)
  .filter((template) => template.includes('{'))
  .map((template) => [template, new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`)] as const);

/** Returns the path of the document, with its placeholders. */
function templateOf(path: string): string | undefined {
  return document.paths[path] ? path : TEMPLATES.find(([, pattern]) => pattern.test(path))?.[0];
}

function pointerOf(method: string, path: string, status: number, mediaType: string): string {
  const response = document.paths[path]?.[method.toLowerCase()]?.responses[String(status)];
  const parts = ['paths', path, method.toLowerCase(), 'responses', String(status)];
  const place = response?.$ref?.slice(2).split('/') ?? parts;
  return [...place, 'content', mediaType, 'schema']
    .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
    .join('/');
}

/** Returns every path of the API document with its methods and security requirements. */
export function documentedPaths(): { path: string; method: string; security: unknown }[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { security }]) => ({ path, method, security })),
  );
}

/** Returns every operation that has a body. */
export function documentedBodies(): DocumentedBody[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { requestBody, security = [] }]) => {
      if (!requestBody) return [];
      const [type = '', { schema } = { schema: {} }] = Object.entries(requestBody.content)[0] ?? [];
      const named =
        schema.$ref === undefined ? schema : document.components.schemas[schema.$ref.split('/').at(-1) ?? ''];
      const properties = Object.entries(named?.properties ?? {});
      return {
        method: method.toUpperCase(),
        path: path.replaceAll(/\{\w+\}/g, '00000000-0000-4000-8000-000000000000'),
        credentials: Object.keys(security.at(-1) ?? {})[0] ?? 'none',
        isForm: type.includes('form'),
        isBatch: path.endsWith('/batch'),
        properties: Object.fromEntries(properties.map(([name, { type: kind }]) => [name, String(kind)])),
      };
    }),
  );
}
