import { Global, Module } from '@nestjs/common';
import { BackgroundTasks } from './background-tasks.js';
import { Drain } from './drain.js';
import { ErrorFormats } from './error-formats.js';
import { PublicAddress } from './public-address.js';

/** What modules ask of HTTP. Apart from `HttpModule`, which comes last and which no other module may import. */
@Global()
@Module({
  providers: [BackgroundTasks, Drain, ErrorFormats, PublicAddress],
  exports: [BackgroundTasks, Drain, ErrorFormats, PublicAddress],
})
export class HttpServicesModule {}
