import { Global, Logger, Module } from '@nestjs/common';
import { CounterMetric, Metrics } from '../metrics/index.js';
import { Clock, MINUTE } from '../time/index.js';
import { openTraceExport, type ExportListener } from './trace-export.js';
import { TracingConfiguration } from './tracing.configuration.js';
import { Tracing } from './tracing.js';

const SPANS = new CounterMetric({
  name: 'mcs_trace_spans_total',
  help: 'Spans by outcome: `exported` to the collector, or `lost` because the export failed.',
  labels: ['outcome'],
});

/** Global, because every module may create spans. */
@Global()
@Module({
  providers: [
    {
      provide: Tracing,
      inject: [TracingConfiguration, Metrics, Clock],
      useFactory: async (configuration: TracingConfiguration, metrics: Metrics, clock: Clock) => {
        const listener = countedExports(metrics, clock);
        return new Tracing(
          configuration.endpoint ? await openTraceExport(configuration, listener) : undefined,
        );
      },
    },
  ],
  exports: [Tracing],
})
export class TracingModule {}

/** Counts exports and logs failures, at most once a minute. */
function countedExports(metrics: Metrics, clock: Clock): ExportListener {
  const logger = new Logger('Traces');
  const counter = metrics.counter(SPANS);
  for (const outcome of ['exported', 'lost']) counter.inc({ outcome }, 0);
  let nextWarningAt = 0;
  return (spans, error) => {
    counter.inc({ outcome: error === undefined ? 'exported' : 'lost' }, spans);
    if (error === undefined || clock.milliseconds() < nextWarningAt) return;
    nextWarningAt = clock.milliseconds() + MINUTE;
    logger.warn(`Traces could not be exported: ${(error as Error).message}`);
  };
}
