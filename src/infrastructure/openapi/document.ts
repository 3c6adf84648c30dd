import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject, type SchemaObject } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { ServiceConfiguration, type Surface } from '../config/index.js';
import { SURFACE_EXTENSION } from './operation.js';
import { plainReferences } from './plain-references.js';
import { descriptionOfTopic } from './topic.js';

const API_VERSION = '1.0.0';

const SURFACE_NAMES: Readonly<Record<Surface, string>> = {
  platform: 'Platform API',
  dashboard: 'Dashboard API',
  careers: 'Careers',
};

const DESCRIPTION = `Connects merchants' customers, agents and companies.

**Surfaces.** The platform API takes the \`client_id\` and \`secret\` of your API client as Basic
credentials; the environment (\`development\` or \`production\`) is that of the credentials. The dashboard
API takes an access token of the device authorization flow, or the login of a person in a browser; what only a
person may do takes the login alone. Careers needs no credentials. Each surface may have a host of its own; every operation names its server.

**Requests.** Bodies are JSON in UTF-8, at most 512 KiB. Unknown members are ignored. \`null\` and blank
strings count as missing. Lengths count Unicode code points.

**Answers.** Every answer carries \`X-Request-Id\`; send your own (1 to 64 letters, digits, \`-\`, \`_\`) and
it is kept. Timestamps are ISO 8601 in UTC with milliseconds.

**Limits.** Creating MCP tokens: 600 requests a minute and client. The dashboard API: 600 a minute and user, over all
its operations. Others say so themselves. Whoever makes more is answered 429 and told in \`Retry-After\` when to go on.

**Errors.** Every error has \`error_type\`, \`error_code\` and \`error_message\`; branch on \`error_code\`.
One problem is reported at a time, in the order: credentials (401), rate (429), access (403), body (400).
A path that does not exist is answered 404 \`NOT_FOUND\`; a method that the path does not have, 405
\`METHOD_NOT_ALLOWED\` with \`Allow\`.`;

/** The requests that the service sends to its clients. */
export interface WebhookDocuments {
  readonly webhooks: NonNullable<OpenAPIObject['webhooks']>;
  /** What their bodies refer to, among the document's models. */
  readonly schemas: Readonly<Record<string, SchemaObject>>;
}

const WEBHOOKS = 'Webhooks';
/** Between the surface and the topic. */
const OF_SURFACE = ' · ';

/** The OpenAPI document of everything that the application serves, and of what it sends. */
export function buildDocument(app: INestApplication, { webhooks, schemas }: WebhookDocuments): OpenAPIObject {
  const frame = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Merchant Connectivity Service')
    .setDescription(DESCRIPTION)
    .setVersion(API_VERSION)
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
        description: 'An access token of the device authorization flow. It lives 15 minutes.',
      },
      'bearer',
    )
    .addSecurity('session', {
      type: 'apiKey',
      in: 'cookie',
      name: '__Host-session',
      description:
        'The cookie of a login at `/login`. On a developer’s machine, without https, it is called `session`.',
    })
    .build();
  // By hand: `@ApiWebhook` would register a route of ours for each.
  const withWebhooks = {
    ...frame,
    webhooks: filedUnder(WEBHOOKS, webhooks),
    components: { ...frame.components, schemas },
  };
  const document = SwaggerModule.createDocument(app, withWebhooks, { autoTagControllers: false });
  assignSurfaces(document, app.get(ServiceConfiguration));
  return plainReferences({ ...document, ...contents(document) });
}

function filedUnder(tag: string, webhooks: WebhookDocuments['webhooks']): WebhookDocuments['webhooks'] {
  return Object.fromEntries(
    Object.entries(webhooks).map(([name, { post, ...item }]) => [
      name,
      { ...item, ...(post && { post: { tags: [tag], ...post } }) },
    ]),
  );
}

/**
 * Each operation names the server of its surface, and is filed under its topic there: a tag such as
 * `Platform API · MCP tokens`, because Swagger UI knows no groups of tags.
 */
function assignSurfaces(document: OpenAPIObject, configuration: ServiceConfiguration): void {
  for (const path of Object.values(document.paths)) {
    for (const operation of Object.values(path)) {
      const surface = operation?.[SURFACE_EXTENSION] as Surface | undefined;
      if (!surface) continue;
      operation.tags = [[SURFACE_NAMES[surface], ...(operation.tags ?? [])].join(OF_SURFACE)];
      operation.servers = [
        { url: configuration.publicUrlOf(surface) ?? '/', description: SURFACE_NAMES[surface] },
      ];
    }
  }
}

/**
 * What Swagger UI needs: its own files, the styles that it writes into its page, the images that it has as data,
 * and calls to this deployment.
 */
const DOCUMENTATION_HEADERS = {
  'Cache-Control': 'public, max-age=300',
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
};

/** The tags, surface by surface, and their groups for the readers that know them. */
function contents(document: OpenAPIObject): Pick<OpenAPIObject, 'tags'> & Record<'x-tagGroups', object[]> {
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path as object));
  const used = [...new Set(operations.flatMap(({ tags }: { tags?: string[] }) => tags ?? []))];
  const groups = Object.values(SURFACE_NAMES).map((name) => ({
    name,
    tags: used.filter((tag) => tag.split(OF_SURFACE)[0] === name),
  }));
  return {
    tags: [
      ...groups.flatMap(({ tags }) => tags).map((tag) => describedTag(tag)),
      { name: WEBHOOKS, description: 'What the service sends to your endpoints.' },
    ],
    'x-tagGroups': [...groups.filter(({ tags }) => tags.length > 0), { name: WEBHOOKS, tags: [WEBHOOKS] }],
  };
}

function describedTag(name: string): { name: string; description: string } {
  return { name, description: descriptionOfTopic(name.split(OF_SURFACE)[1] ?? '') };
}

/** Swagger UI on a phone: headings above their descriptions; nowhere the column of links, which nothing has. */
const SWAGGER_UI_CSS = `
  .swagger-ui .response-col_links { display: none }
  @media (max-width: 640px) {
    .swagger-ui .opblock-tag { flex-wrap: wrap; padding: 10px 0 }
    .swagger-ui .opblock-tag > a { flex: 1 }
    .swagger-ui .opblock-tag small { flex: 1 0 100%; order: 1; padding: 4px 0 0 }
  }`;

/** Serves the document as `/openapi.json` and `/openapi.yaml`, and Swagger UI at `/docs` from local files. */
export function serveDocument(app: INestApplication, document: OpenAPIObject): void {
  app.use(
    ['/docs', '/openapi.json', '/openapi.yaml'],
    (_request: Request, response: Response, next: NextFunction) => {
      response.set(DOCUMENTATION_HEADERS);
      next();
    },
  );
  SwaggerModule.setup('docs', app, document, {
    jsonDocumentUrl: 'openapi.json',
    yamlDocumentUrl: 'openapi.yaml',
    customSiteTitle: 'Merchant Connectivity Service',
    customCss: SWAGGER_UI_CSS,
    swaggerOptions: {
      persistAuthorization: true,
      displayRequestDuration: true,
      tryItOutEnabled: true,
      // The operations show what they need of the schemas.
      defaultModelsExpandDepth: 0,
    },
  });
}
