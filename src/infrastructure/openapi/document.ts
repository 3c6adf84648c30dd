import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { ServiceConfiguration, type Surface } from '../config/index.js';
import { RouteTable } from '../http/index.js';
import { nameComponents } from './components.js';
import { expressConditions } from './conditions.js';
import { descriptionOf, type ConfigurationOf, SURFACE_EXTENSION } from './operation.js';
import { operationsOf, type Operation } from './operations-of.js';
import { plainReferences } from './plain-references.js';
import { completeRequests } from './requests.js';
import { descriptionOfTopic } from './topic.js';

const API_VERSION = '1.0.0';

const SURFACE_NAMES: Readonly<Record<Surface, string>> = {
  platform: 'Platform API',
  connector: 'Agent connector',
  dashboard: 'Dashboard API',
  careers: 'Careers',
  internal: 'Internal API',
};

const describe = (
  limits: string,
): string => `Lets you issue MCP tokens for agents, look up the merchant accounts that were detected for your users, and receive
webhooks.

**Surfaces.** The platform API requires the \`client_id\` and \`secret\` of your API client as Basic
credentials, which also determine the environment (\`development\` or \`production\`). The dashboard API requires an
access token of the device authorization flow, or the login of a user in a browser; some operations require a login.
An access token gives access to the environment of the client that it was issued for, a login to both environments.
The careers API requires no credentials. The internal API is for the platform's own services and requires a service
token. A deployment can have a host name for each surface: its operations then name their server.

**Requests.** Bodies are JSON in UTF-8, at most 512 KiB and 2,000 fields and items (4 MiB for a batch of events). Unknown members are ignored, except
those that look like a misspelled optional field, such as \`expiresIn\` for \`expires_in\`. \`null\` and blank strings count
as missing. Lengths count Unicode code points. Timestamps are those of RFC 3339, with \`Z\` or an offset:
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

/** Separates the surface and the topic. */
const TAG_SEPARATOR = ' · ';

/** The requests that the service sends to clients. */
export interface WebhookDocuments {
  readonly webhooks: NonNullable<OpenAPIObject['webhooks']>;
  /** The requests that an operation leads to, by its `operationId`. */
  readonly callbacks: Readonly<Record<string, NonNullable<Operation['callbacks']>>>;
}

/**
 * Builds the OpenAPI document of all operations that the application serves and of the webhooks that it sends.
 *
 * @param limits a sentence about the rate limits that operations share
 */
export function buildDocument(
  app: INestApplication,
  { webhooks, callbacks }: WebhookDocuments,
  limits: string,
): OpenAPIObject {
  const frame = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Merchant Connectivity Service')
    .setDescription(describe(limits))
    .setVersion(API_VERSION)
    .setContact(
      'Developer support',
      'https://merchant-connectivity.example/support',
      'developers@merchant-connectivity.example',
    )
    .setLicense('Proprietary', 'https://merchant-connectivity.example/terms')
    .addServer('/', 'This deployment')
    .addBasicAuth(
      { type: 'http', scheme: 'basic', description: 'User name: `client_id`. Password: `secret`.' },
      'basic',
    )
    .addBearerAuth(
      {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description: 'An access token of the device authorization flow. It expires after 15 minutes.',
      },
      'bearer',
    )
    .addBearerAuth(
      {
        type: 'http',
        scheme: 'bearer',
        description:
          "A service token (`mcs_svc_…`) of one of the platform's own services. Operators create it.",
      },
      'service-token',
    )
    .addSecurity('session', {
      type: 'apiKey',
      in: 'cookie',
      name: '__Host-session',
      description:
        'The cookie of a login at `/login`. Without https, in local development, its name is `session`.',
    })
    .build();
  // Added here because `@ApiWebhook` would register a route for each webhook.
  const document = SwaggerModule.createDocument(app, { ...frame, webhooks }, { autoTagControllers: false });
  removeRoutes(document, app.get(RouteTable).others);
  completeOperations(document, (target) => app.get(target, { strict: false }));
  for (const operation of operationsOf(document)) {
    const own = callbacks[operation.operationId ?? ''];
    if (own) operation.callbacks = own;
  }
  expressConditions(document);
  completeRequests(document);
  return plainReferences(nameComponents({ ...document, tags: tagsOf(document) }));
}

/** Removes the operations of surfaces that this deployment does not serve, and the schemas that only they use. */
function removeRoutes(document: OpenAPIObject, routes: RouteTable['others']): void {
  for (const { path, method } of routes) {
    const key = path.replaceAll(/:(\w+)/g, '{$1}');
    const operations = document.paths[key] as Record<string, unknown> | undefined;
    if (!operations) continue;
    delete operations[method.toLowerCase()];
    if (Object.keys(operations).length === 0) delete document.paths[key];
  }
  const { schemas = {} } = document.components ?? {};
  let unused = routes.length > 0 ? Object.keys(schemas) : [];
  while (unused.length > 0) {
    const text = JSON.stringify(document);
    unused = Object.keys(schemas).filter((name) => !text.includes(`"#/components/schemas/${name}"`));
    for (const name of unused) delete schemas[name];
  }
}

/**
 * Gives each operation its description, the server of its surface if it has a host of its own, and a tag for its surface
 * and topic, such as `Platform API · MCP tokens`: Swagger UI does not support groups of tags.
 */
function completeOperations(document: OpenAPIObject, configurationOf: ConfigurationOf): void {
  const configuration = configurationOf(ServiceConfiguration);
  for (const path of Object.values(document.paths)) {
    for (const operation of Object.values(path)) {
      const surface = operation?.[SURFACE_EXTENSION] as Surface | undefined;
      if (!surface) continue;
      delete operation[SURFACE_EXTENSION];
      operation.description = descriptionOf(operation.operationId ?? '', configurationOf);
      operation.tags = [[SURFACE_NAMES[surface], ...(operation.tags ?? [])].join(TAG_SEPARATOR)];
      const url = configuration.publicUrlOf(surface);
      if (url !== undefined) operation.servers = [{ url, description: SURFACE_NAMES[surface] }];
    }
  }
}

/** Returns the tags, surface by surface. */
function tagsOf(document: OpenAPIObject): { name: string; description: string }[] {
  const used = [...new Set(operationsOf(document).flatMap(({ tags = [] }) => tags))].toSorted();
  return Object.values(SURFACE_NAMES).flatMap((surface) =>
    used.filter((tag) => tag.split(TAG_SEPARATOR)[0] === surface).map(describedTag),
  );
}

function describedTag(name: string): { name: string; description: string } {
  return { name, description: descriptionOfTopic(name.split(TAG_SEPARATOR)[1] ?? '') };
}
