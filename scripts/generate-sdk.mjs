/*
 * Generates the types and methods of the TypeScript SDK from openapi.json: clients/typescript/src/schemas.ts has a type for
 * each schema, merchant-connectivity.ts a method for each operation, and version.ts the release. python-sdk.mjs does the same for
 * the Python SDK. `npm run openapi` runs this. Arguments name other folders to write to.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { requireTool } from './ensure-tools.mjs';
import { writePythonSdk } from './python-sdk.mjs';

const { default: openapiTS, astToString } = requireTool('openapi-typescript');

const SOURCES = 'clients/typescript/src';
const PYTHON_SOURCES = 'clients/python/src/merchant_connectivity';
const [, , folder = SOURCES, pythonFolder = folder === SOURCES ? PYTHON_SOURCES : undefined] = process.argv;
const HEADER = '// Generated from openapi.json. Run `npm run openapi` after changes.\n';
/** The credentials of each security scheme. Of several that an operation accepts, the first one here is used. */
const CREDENTIALS = { basic: 'basic', bearer: 'bearer', 'service-token': 'service', none: 'none' };
/** Surfaces by their names, with which the tags of their operations begin. */
const SURFACES = {
  'Platform API': 'platform',
  'Dashboard API': 'dashboard',
  Careers: 'careers',
  'Internal API': 'internal',
};
const METHODS = ['get', 'put', 'post', 'patch', 'delete'];

const document = JSON.parse(readFileSync('openapi.json', 'utf8'));

/** Returns the object that a reference in the document leads to, or the object itself. */
function resolve(value) {
  if (value?.$ref === undefined) return value;
  return resolve(
    value.$ref
      .slice(2)
      .split('/')
      .reduce((part, name) => part[name.replaceAll('~1', '/').replaceAll('~0', '~')], document),
  );
}

const capitalized = (name) => name[0].toUpperCase() + name.slice(1);

/** Schemas that the operations describe in place; they get names of their own. */
const ownSchemas = {};

/** Returns the name of the type of a schema. */
function typeOf(schema, nameIfUnnamed) {
  const name = schema.$ref?.match(/^#\/components\/schemas\/(\w+)$/)?.[1];
  if (name !== undefined) return name;
  ownSchemas[nameIfUnnamed] = schema;
  return nameIfUnnamed;
}

function operationOf(path, method, operation, shared = []) {
  const { operationId: id, summary, description = '', security = [], tags } = operation;
  const { 'x-repeatable': repeatable = 'always' } = operation;
  const accepted = security.map((each) => Object.keys(each)[0] ?? 'none');
  const scheme = Object.keys(CREDENTIALS).find((each) => accepted.includes(each));
  if (scheme === undefined) return undefined;
  const parameters = [...shared, ...(operation.parameters ?? [])].map(resolve);
  const inPath = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const body = resolve(operation.requestBody);
  const [bodyType, bodyContent] = Object.entries(body?.content ?? {})[0] ?? [];
  const [, success] = Object.entries(operation.responses).find(([status]) => status.startsWith('2'));
  const [responseType, response] = Object.entries(resolve(success).content ?? {})[0] ?? [];
  const responseSchema = resolve(response?.schema);
  const nextCursor = responseSchema?.properties?.next_cursor;
  const hasPages = query.some(({ name }) => name === 'cursor') && nextCursor !== undefined;
  // The event feed always has a next cursor, and no end: `followEvents` iterates over it.
  const isPaged = hasPages && JSON.stringify(nextCursor).includes('"null"');
  return {
    id,
    summary,
    description,
    method: method.toUpperCase(),
    repeatable,
    acceptsKey: parameters.some(({ name }) => name === 'Idempotency-Key'),
    path,
    surface: SURFACES[tags[0].split(' · ')[0]],
    credentials: CREDENTIALS[scheme],
    inPath,
    query: query.length > 0 && {
      type: typeOf(
        {
          type: 'object',
          properties: Object.fromEntries(
            query.map(({ name, schema, description }) => [name, { description, ...schema }]),
          ),
          required: query.filter(({ required }) => required).map(({ name }) => name),
        },
        `${capitalized(id)}Query`,
      ),
      isRequired: query.some(({ required }) => required),
    },
    body: bodyContent && {
      type: typeOf(bodyContent.schema, `${capitalized(id)}Request`),
      isForm: bodyType === 'application/x-www-form-urlencoded',
      isRequired: body.required === true,
    },
    isStream: responseType === 'text/event-stream',
    response: isPaged
      ? typeOf(resolve(responseSchema.properties.data).items, `${capitalized(id)}Item`)
      : response
        ? typeOf(response.schema, `${capitalized(id)}Response`)
        : 'void',
    isPaged,
    hasPages,
  };
}

const operations = Object.entries(document.paths)
  .flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) =>
      operationOf(path, method, item[method], item.parameters),
    ),
  )
  // Agents call the operations of the agent connector, with their own OAuth libraries.
  .filter((operation) => operation?.surface !== undefined);

const webhooks = Object.values(document.webhooks).map(
  ({ post }) => resolve(post.requestBody).content['application/json'].schema,
);
ownSchemas.WebhookEvent = {
  description: 'The body of a webhook. The field `event` tells the events apart.',
  anyOf: webhooks,
};

/** The schemas that the given ones use, themselves included. Unused ones would only make the package larger. */
function used(values, found = {}) {
  for (const reference of JSON.stringify(values).match(/#\/components\/schemas\/\w+/g) ?? []) {
    const name = reference.split('/').at(-1);
    if (found[name]) continue;
    found[name] = document.components.schemas[name];
    used(found[name], found);
  }
  return found;
}

const named = new Set(operations.flatMap(({ response, body }) => [response, body?.type]));
const schemas = {
  ...used([
    ownSchemas,
    ...[...named].map((name) => ({ $ref: `#/components/schemas/${name}` })).filter((each) => resolve(each)),
    { $ref: '#/components/schemas/ErrorResponse' },
    { $ref: '#/components/schemas/OAuthErrorResponse' },
  ]),
  ...ownSchemas,
};

async function write(file, code) {
  const path = `${SOURCES}/${file}`;
  writeFileSync(
    `${folder}/${file}`,
    await format(HEADER + code, { ...(await resolveConfig(path)), filepath: path }),
  );
}

/** A value that is optional because it has a default may be left out of requests. */
const types = await openapiTS(
  JSON.stringify({
    openapi: '3.1.0',
    info: document.info,
    paths: {},
    components: { schemas: Object.fromEntries(Object.entries(schemas).toSorted()) },
  }),
  { defaultNonNullable: false, rootTypes: true, rootTypesNoSchemaPrefix: true, silent: true },
);
await write(
  'schemas.ts',
  astToString(types).replaceAll(
    /^export (?:type|interface) (?:paths|webhooks|\$defs|operations)\b.*\n/gm,
    '',
  ),
);

const method = (operation) => {
  const {
    id,
    summary,
    description,
    path,
    inPath,
    query,
    body,
    isStream,
    isPaged,
    response,
    repeatable,
    acceptsKey,
  } = operation;
  const parameters = [
    ...inPath.map((name) => `${name}: string | number`),
    ...(query ? [query.isRequired ? `query: ${query.type}` : `query: ${query.type} = {}`] : []),
    ...(body ? [body.isRequired ? `body: ${body.type}` : `body?: ${body.type}`] : []),
    'options?: RequestOptions',
  ];
  const result = isPaged ? `Pages<${response}>` : `Promise<${isStream ? 'Response' : response}>`;
  const request = [
    `method: '${operation.method}'`,
    `path: '${path}'`,
    ...(repeatable === 'always' ? [] : [`repeatable: '${repeatable}'`]),
    ...(repeatable === 'with_idempotency_key' && acceptsKey ? ['acceptsKey: true'] : []),
    ...(inPath.length > 0 ? [`inPath: { ${inPath.join(', ')} }`] : []),
    `surface: '${operation.surface}'`,
    `credentials: '${operation.credentials}'`,
    ...(query ? ['query'] : []),
    ...(body ? [body.isForm ? 'form: body' : 'body'] : []),
  ];
  const text = `${summary}.\n\n${description.split('\n\n')[0]}`.trim().split('\n');
  return `/**\n${text.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */
    ${id}(${parameters.join(', ')}): ${result} {
      return this.${isPaged ? 'pages' : isStream ? 'open' : 'send'}('${id}', { ${request.join(', ')} }, options);
    }`;
};

const imported = [
  ...new Set(
    operations.flatMap(({ response, isStream, body, query }) => [
      isStream ? 'void' : response,
      body?.type,
      query && query.type,
    ]),
  ),
]
  .filter((name) => name && name !== 'void')
  .toSorted();
await write(
  'merchant-connectivity.ts',
  `import type { Pages } from './pages.js';
import type { ${imported.join(', ')} } from './schemas.js';
import { Transport, type RequestOptions } from './transport.js';

/**
 * A client of the service. It has a method for each operation, with the name that the API document gives it.
 */
export class MerchantConnectivity extends Transport {
${operations.map(method).join('\n\n')}
}
`,
);

await write(
  'operations.ts',
  `import type { OperationRequest } from './transport.js';

/** The properties of an operation with which a program sends its request. */
export interface Operation extends Pick<
  OperationRequest,
  'method' | 'path' | 'surface' | 'credentials' | 'repeatable' | 'acceptsKey'
> {
  readonly summary: string;
  /** Whether the response is a page of a list. */
  readonly isPaged?: true;
  /** Whether the response is a stream of events. */
  readonly isStream?: true;
  /** Whether the body is a form instead of JSON. */
  readonly isForm?: true;
}

/** All operations of the SDK, by their names in the API document. */
export const OPERATIONS: Readonly<Record<string, Operation>> = ${JSON.stringify(
    Object.fromEntries(
      operations.map(
        ({ id, summary, method: name, path, surface, credentials, repeatable, acceptsKey, ...operation }) => [
          id,
          {
            summary,
            method: name,
            path,
            surface,
            credentials,
            ...(repeatable !== 'always' && { repeatable }),
            ...(acceptsKey && { acceptsKey }),
            ...(operation.hasPages && { isPaged: true }),
            ...(operation.isStream && { isStream: true }),
            ...(operation.body?.isForm && { isForm: true }),
          },
        ],
      ),
    ),
  )};
`,
);

const { version } = JSON.parse(readFileSync('clients/typescript/package.json', 'utf8'));
await write('version.ts', `/** The release of the SDK. */\nexport const VERSION = '${version}';\n`);
if (pythonFolder !== undefined) writePythonSdk(pythonFolder, { operations, schemas, version });
