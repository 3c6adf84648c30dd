import { Global, Logger, Module } from '@nestjs/common';
import { CounterMetric, Metrics } from '../metrics/index.js';
import { Clock, MINUTE } from '../time/index.js';
import { openTraceExport, type ExportListener } from './trace-export.js';
import { TracingConfiguration } from './tracing.configuration.js';
import { Tracing } from './tracing.js';

const SPANS = new CounterMetric({
  name: 'mcs_trace_spans_total',
  help: 'Spans that were handed to the collector: `exported`, or `lost` because it did not take them.',
  labels: ['outcome'],
});

/** Global, because spans are made wherever something is done. */
@Global()
@Module({
  providers: [
    {
      provide: Tracing,
      inject: [TracingConfiguration, Metrics, Clock],
      useFactory: async (configuration: TracingConfiguration, metrics: Metrics, clock: Clock) => {
        const hear = countedExports(metrics, clock);
        return new Tracing(configuration.endpoint ? await openTraceExport(configuration, hear) : undefined);
      },
    },
  ],
  exports: [Tracing],
})
export class TracingModule {}

/** A collector that is away costs traces and nothing else; a line a minute says so. */
function countedExports(metrics: Metrics, clock: Clock): ExportListener {
  const logger = new Logger('Traces');
  const counter = metrics.counter(SPANS);
  for (const outcome of ['exported', 'lost']) counter.inc({ outcome }, 0);
  let quietUntil = 0;
  return (spans, error) => {
    counter.inc({ outcome: error === undefined ? 'exported' : 'lost' }, spans);
    if (error === undefined || clock.milliseconds() < quietUntil) return;
    quietUntil = clock.milliseconds() + MINUTE;
    logger.warn(`Traces could not be sent: ${(error as Error).message}`);
  };
}
