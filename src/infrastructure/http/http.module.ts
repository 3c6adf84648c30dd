import { Global, Module, type MiddlewareConsumer, type NestModule } from '@nestjs/common';
import { APP_PIPE, DiscoveryModule } from '@nestjs/core';
import { RequestValidationPipe } from '../validation/index.js';
import { AllowedOrigins, CrossOriginRequests } from './cross-origin-requests.js';
import { Failures } from './exception.filter.js';
import { ProtectiveHeaders } from './protective-headers.js';
import { PublicAddress } from './public-address.js';
import { RequestLifecycle } from './request-lifecycle.js';
import { RequestMetrics, RequestSpans } from './request-telemetry.js';
import { RouteTable, ServedRoutes } from './route-table.js';
import { BackgroundTasks, GracefulShutdown, Startup } from './startup-and-shutdown.js';
import { acceptConnectorPath, validateRequest } from './validate-request.middleware.js';

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

/** What every request passes before the guards of its route. */
@Module({
  providers: [
    RequestMetrics,
    RequestSpans,
    RequestLifecycle,
    { provide: APP_PIPE, useClass: RequestValidationPipe },
  ],
})
export class HttpModule implements NestModule {
  constructor(private readonly requests: RequestLifecycle) {}

  configure(consumer: MiddlewareConsumer): void {
    consumer
      .apply(
        this.requests.begin,
        acceptConnectorPath,
        ProtectiveHeaders,
        validateRequest,
        CrossOriginRequests,
        ServedRoutes,
      )
      .forRoutes('/');
  }
}
