import type { INestApplication } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { ServiceConfiguration, type Surface } from '../config/index.js';
import { StaticContent } from '../http/index.js';
import { nameComponents } from './components.js';
import { expressConditions } from './conditions.js';
import { descriptionOf, type ConfigurationOf, SURFACE_EXTENSION } from './operation.js';
import { operationsOf, type Operation } from './operations-of.js';
import { plainReferences } from './plain-references.js';
import { completeRequests } from './requests.js';
import { descriptionOfTopic } from './topic.js';
import { toVersion30 } from './version-3.0.js';

const API_VERSION = '1.0.0';

const SURFACE_NAMES: Readonly<Record<Surface, string>> = {
  platform: 'Platform API',
  dashboard: 'Dashboard API',
  careers: 'Careers',
  internal: 'Internal API',
};

const DESCRIPTION = `Lets you issue MCP tokens for agents, look up the merchant accounts that were detected for your users, and receive
webhooks.

**Surfaces.** The platform API requires the \`client_id\` and \`secret\` of your API client as Basic
credentials, which also determine the environment (\`development\` or \`production\`). The dashboard API requires an
access token of the device authorization flow, or the login of a user in a browser; some operations require a login.
The careers API requires no credentials. The internal API is for the platform's own services and requires a service
token. Each surface can have a host name of its own; every operation names its server.

**Requests.** Bodies are JSON in UTF-8, at most 512 KiB (4 MiB for a batch of events). Unknown members are ignored, except
those that look like a misspelled optional field, such as \`expiresIn\` for \`expires_in\`. \`null\` and blank strings count
as missing. Lengths count Unicode code points. Timestamps are those of RFC 3339, with \`Z\` or an offset:
\`2026-01-31T08:15:30Z\`, \`2026-01-31T03:15:30.5-05:00\`. A \`+\` in a query string can be sent as it is or as \`%2B\`.

**Responses.** Every response has an \`X-Request-Id\` header. If you send your own ID (1 to 64 letters, digits, \`-\`,
\`_\`), the response repeats it. Timestamps are ISO 8601 in UTC with milliseconds.

**Limits.** Operations with a rate limit state it in their description. A request over the limit gets a 429 response
whose \`Retry-After\` header says when you can retry. The headers \`RateLimit\` and \`RateLimit-Policy\` of every response
show the limit and what remains of it.

**Errors.** Every error has \`error_type\`, \`error_code\` and \`error_message\`; branch on \`error_code\`.
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

/** Builds the OpenAPI document of all operations that the application serves and of the webhooks that it sends. */
export function buildDocument(
  app: INestApplication,
  { webhooks, callbacks }: WebhookDocuments,
): OpenAPIObject {
  const frame = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Merchant Connectivity Service')
    .setDescription(DESCRIPTION)
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
  completeOperations(document, (target) => app.get(target, { strict: false }));
  for (const operation of operationsOf(document)) {
    const own = callbacks[operation.operationId ?? ''];
    if (own) operation.callbacks = own;
  }
  expressConditions(document);
  completeRequests(document);
  return plainReferences(nameComponents({ ...document, ...contents(document) }));
}

/**
 * Gives each operation its description, the server of its surface, and a tag for its surface and topic, such as
 * `Platform API · MCP tokens`: Swagger UI does not support groups of tags.
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
      operation.servers = [
        { url: configuration.publicUrlOf(surface) ?? '/', description: SURFACE_NAMES[surface] },
      ];
    }
  }
}

/** Returns the tags, surface by surface, and their groups for viewers that support them. */
function contents(document: OpenAPIObject): Pick<OpenAPIObject, 'tags'> & Record<'x-tagGroups', object[]> {
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path as object));
  const used = [...new Set(operations.flatMap(({ tags }: { tags?: string[] }) => tags ?? []))].toSorted();
  const groups = Object.values(SURFACE_NAMES).map((name) => ({
    name,
    tags: used.filter((tag) => tag.split(TAG_SEPARATOR)[0] === name),
  }));
  return {
    tags: groups.flatMap(({ tags }) => tags).map((tag) => describedTag(tag)),
    'x-tagGroups': groups.filter(({ tags }) => tags.length > 0),
  };
}

function describedTag(name: string): { name: string; description: string } {
  return { name, description: descriptionOfTopic(name.split(TAG_SEPARATOR)[1] ?? '') };
}

/**
 * Serves the document at `/openapi.json`, `/openapi-3.0.json` and `/openapi.yaml`. It is built at the first request for
 * it, because building it takes longer than the rest of creating the application.
 */
export function serveDocument(app: NestExpressApplication, document: () => OpenAPIObject): void {
  serveJson(app, '/openapi.json', document);
  serveJson(app, '/openapi-3.0.json', () => toVersion30(document()));
  app.use('/openapi.yaml', (_request: Request, response: Response, next: NextFunction) => {
    response.set('Cache-Control', 'public, max-age=300');
    next();
  });
  SwaggerModule.setup('', app, document, { ui: false, raw: ['yaml'], yamlDocumentUrl: 'openapi.yaml' });
}

/** Serves JSON that is created at the first request for it. */
function serveJson(app: NestExpressApplication, path: string, create: () => object): void {
  let json: StaticContent | undefined;
  app
    .getHttpAdapter()
    .getInstance()
    .get(path, (request: Request, response: Response) => {
      const type = { 'Content-Type': 'application/json; charset=utf-8' };
      return (json ??= new StaticContent(JSON.stringify(create()), type)).send(request, response);
    });
}
