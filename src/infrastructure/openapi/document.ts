import { setImmediate as nextTurn } from 'node:timers/promises';
import type { INestApplication } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, MetadataScanner, ModulesContainer } from '@nestjs/core';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject, type SchemaObject } from '@nestjs/swagger';
import { ServiceConfiguration } from '../config/index.js';
import { withReferences } from '../framework-patches/index.js';
import { RouteTable } from '../http/index.js';
import { namedSchemas } from '../schemas/index.js';
import { Components, usedComponents } from './components.js';
import { DOCUMENTED_ROUTE, TOPIC, type ConfigurationOf } from './operation.js';
import {
  TAG_SEPARATOR,
  writtenOperation,
  type DiscoveredRoute,
  type Operation,
} from './written-operations.js';

const describe = (
  limits: string,
): string => `Lets you issue MCP tokens for agents, look up the merchant accounts that were detected for your users, and receive
webhooks.

**Surfaces.** The platform API requires the \`client_id\` of your API client and an API key, or its \`secret\`, as Basic
credentials, which also determine the environment (\`development\` or \`production\`). It also accepts an API key, or an access
token that was issued for one, as a Bearer token. The dashboard API requires an API key or an access token as a Bearer token,
or the login of a user in a browser. An API key or access token gives access to the environment of its client, a login to
both environments.
The careers API requires no credentials. The internal API is for the platform's own services and requires a service
token. A deployment can have a host name for each surface: its operations then name their server.

**Requests.** Bodies are JSON in UTF-8, at most 512 KiB and 2,000 fields and items (4 MiB for a batch of events, 256 KiB without credentials). Unknown members are ignored, except
those that look like a misspelled optional field, such as \`expiresIn\` for \`expires_in\`. \`null\` and blank strings count
as missing. Lengths count Unicode code points. Timestamps are those of RFC 3339, with \`Z\` or an offset, whose colon is optional:
\`2026-01-31T08:15:30Z\`, \`2026-01-31T03:15:30.5-05:00\`. A \`+\` in a query string can be sent as it is or as \`%2B\`.

**Responses.** Every response has an \`X-Request-Id\` header. If you send your own ID (1 to 64 letters, digits, \`-\`,
\`_\`), the response repeats it. Timestamps are ISO 8601 in UTC with milliseconds.

**Limits.** ${limits} Operations with a limit of their own state it in their
description. A request over the limit gets a 429 response whose \`Retry-After\` header says when you can retry. After the
credentials have been checked, the headers \`RateLimit\` and \`RateLimit-Policy\` of every response of an operation with a
limit, successes included, show the limit and what remains of it.

**Errors.** Every error has \`error_type\`, \`error_code\` and \`error_message\`; branch on \`error_code\`. For a field that
does not match its schema, the message says what to correct: "The external user id field is required."
A response reports one problem, in this order: credentials (401), rate (429), access (403), body (400).
For an unknown path, the response is 404 \`NOT_FOUND\`. For a method that the path does not support, it is 405
\`METHOD_NOT_ALLOWED\` with an \`Allow\` header. The \`Link\` header of an error (\`rel="help"\`) points to its description.`;

export interface WebhookDocuments {
  readonly webhooks: NonNullable<OpenAPIObject['webhooks']>;
  /** The requests that an operation leads to, by its `operationId`. */
  readonly callbacks: Readonly<Record<string, NonNullable<Operation['callbacks']>>>;
}

/**
 * Builds the OpenAPI document of all operations that the application serves and of the webhooks that it sends.
 *
 * @param describeWebhooks adds the parts that webhooks share
 * @param limits a sentence about the rate limits that operations share
 * @param version the release of the service
 */
export async function buildDocument(
  app: INestApplication,
  describeWebhooks: (components: Components) => WebhookDocuments,
  limits: string,
  version: string,
): Promise<OpenAPIObject> {
  const { supportUrl, supportEmail, termsUrl } = app.get(ServiceConfiguration);
  const frame = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Merchant Connectivity Service')
    .setDescription(describe(limits))
    .setVersion(version)
    .addServer('/', 'This deployment')
    .addBasicAuth(
      {
        type: 'http',
        scheme: 'basic',
        description: 'User name: `client_id`. Password: an API key, or the `secret`.',
      },
      'basic',
    )
    .addBearerAuth(
      {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description:
          'An API key (`mck_…`), or an access token, which is a JWT and expires after 15 minutes. The platform API accepts only ' +
          'access tokens that were issued for an API key.',
      },
      'bearer',
    )
    // Not `addBearerAuth`, which would add that the token is a JWT.
    .addSecurity('service-token', {
      type: 'http',
      scheme: 'bearer',
      description:
        "A service token (`mcs_svc_…`) of one of the platform's own services. Operators create it. It is not a JWT.",
    })
    .addSecurity('session', {
      type: 'apiKey',
      in: 'cookie',
      name: '__Host-session',
      description:
        'The cookie of a login at `/login`. Without https, in local development, its name is `session`.',
    })
    .build();
  const document = await describeModules(app, frame);
  removeRoutes(document, app.get(RouteTable).others);
  const { routes, topics } = discover(app);
  const components = new Components();
  const schemas = (document.components?.schemas ?? {}) as Record<string, SchemaObject>;
  const configurationOf: ConfigurationOf = (target) => app.get(target, { strict: false });
  // Not `@ApiWebhook`, which would register a route for each webhook.
  const { webhooks, callbacks } = describeWebhooks(components);
  const written = (operation: Operation): Operation => {
    const { operationId = '' } = operation;
    const route = routes.get(operationId);
    if (!route) return operation;
    const own = callbacks[operationId];
    return {
      ...writtenOperation(operation, route, { schemas, components, configurationOf }),
      ...(own && { callbacks: own }),
    };
  };
  const paths: OpenAPIObject['paths'] = {};
  for (const [path, item] of inOrderOfRoutes(document.paths, routes)) {
    const operations = Object.entries(item);
    paths[path] = Object.fromEntries(operations.map(([method, operation]) => [method, written(operation)]));
    await nextTurn();
  }
  const all = {
    ...document,
    info: {
      ...document.info,
      contact: {
        name: 'Developer support',
        ...(supportUrl && { url: supportUrl }),
        ...(supportEmail && { email: supportEmail }),
      },
      // OpenAPI Generator requires an address or an identifier.
      license: {
        name: 'Proprietary',
        ...(termsUrl ? { url: termsUrl } : { identifier: 'LicenseRef-Proprietary' }),
      },
    },
    paths,
    tags: tagsOf(paths, routes, topics),
    components: {
      ...document.components,
      ...components.parts,
      schemas: withReferences({ ...schemas, ...namedSchemas() }),
    },
    webhooks,
  } as unknown as OpenAPIObject;
  return { ...all, components: usedComponents(all) };
}

/** Describes a module in each turn of the event loop. All at once take 0.2 s, during which other requests would wait. */
async function describeModules(
  app: INestApplication,
  frame: Omit<OpenAPIObject, 'paths'>,
): Promise<OpenAPIObject> {
  const describe = ({ metatype }: { readonly metatype: unknown }): OpenAPIObject =>
    SwaggerModule.createDocument(app, frame, {
      autoTagControllers: false,
      include: [metatype as new () => unknown],
    });
  const whole = SwaggerModule.createDocument(app, frame, { include: [DiscoveryModule] });
  for (const module of app.get(ModulesContainer).values()) {
    if (module.controllers.size === 0) continue;
    const { paths, components } = describe(module);
    for (const [path, item] of Object.entries(paths))
      whole.paths[path] = { ...whole.paths[path], ...(item as object) };
    Object.assign(whole.components?.schemas ?? {}, components?.schemas);
    await nextTurn();
  }
  return whole;
}

/** Returns the documented routes by their `operationId`, and the descriptions of the topics. */
function discover(app: INestApplication): {
  readonly routes: ReadonlyMap<string, DiscoveredRoute>;
  readonly topics: ReadonlyMap<string, DescribedTopic>;
} {
  const discovery = app.get(DiscoveryService, { strict: false });
  const scanner = app.get(MetadataScanner, { strict: false });
  const routes = new Map<string, DiscoveredRoute>();
  const topics = new Map<string, DescribedTopic>();
  for (const controller of discovery.getControllers()) {
    const { name, description, place = LAST } = discovery.getMetadataByDecorator(TOPIC, controller) ?? {};
    if (name !== undefined && description !== undefined) topics.set(name, { description, place });
    const { prototype } = controller.metatype as { readonly prototype: object };
    for (const method of scanner.getAllMethodNames(prototype)) {
      const route = discovery.getMetadataByDecorator(DOCUMENTED_ROUTE, controller, method);
      if (!route) continue;
      const parameters = Reflect.getMetadata('design:paramtypes', prototype, method) as unknown[];
      routes.set(route.operation.operationId, { ...route, parameters });
    }
  }
  return { routes, topics };
}

const LAST = Number.MAX_SAFE_INTEGER;

/** Returns the paths with the first operations before the others. */
function inOrderOfRoutes(
  paths: OpenAPIObject['paths'],
  routes: ReadonlyMap<string, DiscoveredRoute>,
): [path: string, operations: Record<string, Operation>][] {
  const placeOf = (operations: Record<string, Operation>): number =>
    Math.min(
      ...Object.values(operations).map(
        ({ operationId = '' }) => routes.get(operationId)?.operation.place ?? LAST,
      ),
    );
  return Object.entries(paths as Record<string, Record<string, Operation>>).toSorted(
    ([, left], [, right]) => placeOf(left) - placeOf(right),
  );
}

interface DescribedTopic {
  readonly description: string;
  readonly place: number;
}

/** @param paths in order: the topics of the first operations come first */
function tagsOf(
  paths: OpenAPIObject['paths'],
  routes: ReadonlyMap<string, DiscoveredRoute>,
  topics: ReadonlyMap<string, DescribedTopic>,
): { name: string; description: string }[] {
  const topicOf = (name: string): DescribedTopic | undefined =>
    topics.get(name.split(TAG_SEPARATOR)[1] ?? '');
  const placeOf = (name: string): number => topicOf(name)?.place ?? LAST;
  const operations = Object.values(paths).flatMap((path) => Object.values(path) as Operation[]);
  const isFirst = ({ operationId = '' }: Operation): boolean =>
    routes.get(operationId)?.operation.place !== undefined;
  const first = operations.filter(isFirst).flatMap(({ tags = [] }) => tags);
  const others = operations
    .flatMap(({ tags = [] }) => tags)
    .toSorted((left, right) => placeOf(left) - placeOf(right));
  return [...new Set([...first, ...others])].map((name) => ({
    name,
    description: topicOf(name)?.description ?? '',
  }));
}

function removeRoutes(document: OpenAPIObject, routes: RouteTable['others']): void {
  for (const { path, method } of routes) {
    const key = path.replaceAll(/:(\w+)/g, '{$1}');
    const operations = document.paths[key] as Record<string, unknown> | undefined;
    if (!operations) continue;
    delete operations[method.toLowerCase()];
    if (Object.keys(operations).length === 0) delete document.paths[key];
  }
}
