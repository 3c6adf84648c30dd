import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { OpenAPIObject } from '@nestjs/swagger';
import { AppModule, type AppOptions } from './app.module.js';
import { preparePassport } from './infrastructure/framework-patches/index.js';
import type { LoadedConfiguration } from './infrastructure/config/index.js';
import { HttpAdapter, prepareHttpServer } from './infrastructure/http/index.js';
import { LoggingConfiguration, ServiceLogger } from './infrastructure/logging/index.js';
import { buildDocument } from './infrastructure/openapi/index.js';
import { VERSION } from './infrastructure/project-files/index.js';
import { describeLimits } from './infrastructure/surfaces/index.js';
import { provideConstraints } from './infrastructure/validation/index.js';
import { ApiOperations } from './modules/documentation/index.js';
import { webhookDocuments } from './modules/webhooks/index.js';

/** Creates the whole HTTP application, ready to listen. Used by `main.ts` and by the tests of the API. */
export async function createApplication(
  configuration: LoadedConfiguration,
  options: AppOptions,
): Promise<NestExpressApplication> {
  const module = AppModule.register(configuration, options);
  const app = await NestFactory.create<NestExpressApplication>(module, new HttpAdapter(), {
    logger: new ServiceLogger(configuration.get(LoggingConfiguration)),
    // Bodies are read after the other guards (`JsonBodyGuard`).
    bodyParser: false,
    // A route such as `new` is tried before `:id`, in whichever order modules and controllers declare them.
    routeResolutionStrategy: 'specificity',
    // Not `shadow`, which would refuse `new` before `:id`. A test finds routes that are equally specific.
    routeConflictPolicy: { duplicate: 'error' },
    abortOnError: false,
  });
  preparePassport();
  provideConstraints(app);
  prepareHttpServer(app);
  app.get(ApiOperations).from(() => documentOf(app));
  return app;
}

/** Builds the API document: the operations of the application and the webhooks that it sends. */
export function documentOf(app: NestExpressApplication): Promise<OpenAPIObject> {
  const limits = describeLimits((target) => app.get(target, { strict: false }));
  return buildDocument(app, webhookDocuments, limits, VERSION);
}
