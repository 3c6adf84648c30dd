import { Global, Module } from '@nestjs/common';
import { AllowedOrigins } from './allowed-origins.js';
import { BackgroundTasks } from './background-tasks.js';
import { ErrorFormats } from './error-formats.js';
import { Failures } from './failures.js';
import { GracefulShutdown } from './graceful-shutdown.js';
import { PublicAddress } from './public-address.js';
import { Startup } from './startup.js';

/**
 * HTTP services for other modules. They must not import `HttpModule`, which has to shut down before the database
 * (`AppModule`).
 */
@Global()
@Module({
  providers: [
    AllowedOrigins,
    BackgroundTasks,
    ErrorFormats,
    Failures,
    GracefulShutdown,
    PublicAddress,
    Startup,
  ],
  exports: [
    AllowedOrigins,
    BackgroundTasks,
    ErrorFormats,
    Failures,
    GracefulShutdown,
    PublicAddress,
    Startup,
  ],
})
export class HttpServicesModule {}
