import { Global, Module } from '@nestjs/common';
import { Metrics } from '../metrics/index.js';
import { Clock } from '../time/index.js';
import { TracingConfiguration } from './tracing.configuration.js';
import { openTracing, Tracing } from './tracing.js';

@Global()
@Module({
  providers: [{ provide: Tracing, inject: [TracingConfiguration, Metrics, Clock], useFactory: openTracing }],
  exports: [Tracing],
})
export class TracingModule {}
