import { Global, Module } from '@nestjs/common';
import { BackgroundTasks } from './background-tasks.js';
import { Drain } from './drain.js';
import { ErrorDialects } from './error-dialects.js';
import { PublicAddress } from './public-address.js';

/** What modules ask of HTTP. Apart from `HttpModule`, which comes last and which no other module may import. */
@Global()
@Module({
  providers: [BackgroundTasks, Drain, ErrorDialects, PublicAddress],
  exports: [BackgroundTasks, Drain, ErrorDialects, PublicAddress],
})
export class HttpServicesModule {}
