import { Global, Module, type MiddlewareConsumer, type NestModule } from '@nestjs/common';
import { APP_PIPE, DiscoveryModule } from '@nestjs/core';
import type { RequestHandler } from 'express';
import { RequestValidationPipe } from '../validation/index.js';
import { AllowedOrigins } from './cross-origin-requests.js';
import { Failures } from './exception.filter.js';
import { ProtectiveHeaders } from './protective-headers.js';
import { PublicAddress } from './public-address.js';
import { RequestLifecycle } from './request-lifecycle.js';
import { RequestMetrics } from './request-telemetry.js';
import { RouteTable } from './route-table.js';
import { ServedRoutes } from './served-routes.js';
import { BackgroundTasks, GracefulShutdown, Startup } from './startup-and-shutdown.js';
import { validateRequest } from './validate-request.middleware.js';

const SERVICES = [
  AllowedOrigins,
  BackgroundTasks,
  Failures,
  GracefulShutdown,
  PublicAddress,
  RouteTable,
  Startup,
];

/**
 * HTTP services for other modules. They must not import `HttpModule`, which has to shut down before the database
 * (`AppModule`).
 */
@Global()
@Module({ imports: [DiscoveryModule], providers: SERVICES, exports: SERVICES })
export class HttpServicesModule {}

/** Runs several steps as one middleware. Nest wraps each middleware in a promise, and remembers its requests. */
function chained(...steps: RequestHandler[]): RequestHandler {
  return (request, response, next) => {
    const run = (index: number, error?: unknown): void => {
      const step = steps[index];
      if (error || !step) next(error);
      else void step(request, response, (problem?: unknown) => run(index + 1, problem));
    };
    run(0);
  };
}

/** The steps that every request passes before the guards of its route. */
@Module({
  providers: [
    ProtectiveHeaders,
    RequestMetrics,
    RequestLifecycle,
    ServedRoutes,
    { provide: APP_PIPE, useClass: RequestValidationPipe },
  ],
})
export class HttpModule implements NestModule {
  constructor(
    private readonly requests: RequestLifecycle,
    private readonly headers: ProtectiveHeaders,
    private readonly routes: ServedRoutes,
  ) {}

  configure(consumer: MiddlewareConsumer): void {
    const steps = chained(this.requests.begin, this.headers.use, validateRequest, this.routes.use);
    consumer.apply(steps).forRoutes('/');
  }
}
