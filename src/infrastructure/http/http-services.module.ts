import { Global, Module } from '@nestjs/common';
import { BackgroundTasks } from './background-tasks.js';
import { ErrorFormats } from './error-formats.js';
import { GracefulShutdown } from './graceful-shutdown.js';
import { PublicAddress } from './public-address.js';

/**
 * HTTP services for other modules. They must not import `HttpModule`, which has to shut down before the database
 * (`AppModule`).
 */
@Global()
@Module({
  providers: [BackgroundTasks, ErrorFormats, GracefulShutdown, PublicAddress],
  exports: [BackgroundTasks, ErrorFormats, GracefulShutdown, PublicAddress],
})
export class HttpServicesModule {}
