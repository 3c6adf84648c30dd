import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { Global, Injectable, Logger, Module, type OnApplicationShutdown } from '@nestjs/common';
import {
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type SpanKind,
} from '@opentelemetry/api';
import { CounterMetric, Metrics } from '../metrics/index.js';
import { Clock, MINUTE, SECOND } from '../time/index.js';
import { openTraceExport, type ExportListener, type TraceExport } from './trace-export.js';
import { TracingConfiguration } from './tracing.configuration.js';

/** Milliseconds that a shutdown waits for the collector. */
const CLOSE_TIMEOUT = 2 * SECOND;

export interface SpanOptions {
  readonly kind: SpanKind;
  /** Must not contain secrets. URLs are masked (`maskedUrl`). */
  readonly attributes?: Attributes;
  /** Headers of an incoming request, which may continue the client's trace. */
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
}

/** Creates nested spans. Does nothing if no collector is configured. */
@Injectable()
export class Tracing implements OnApplicationShutdown {
  private readonly current = new AsyncLocalStorage<Context>();

  constructor(private readonly traces?: TraceExport) {}

  /** Starts a span, which the calling code must end. Returns undefined if no collector is configured. */
  begin(name: string, { kind, attributes, headers }: SpanOptions): Span | undefined {
    if (!this.traces) return undefined;
    const parent = headers ? this.traces.contextOf(headers) : this.current.getStore();
    return this.traces.tracer.startSpan(
      name,
      { kind, ...(attributes && { attributes }) },
      parent ?? ROOT_CONTEXT,
    );
  }

  /** Runs the work with the span as the parent of further spans. */
  within<T>(span: Span | undefined, work: () => T): T {
    if (!span) return work();
    return this.current.run(trace.setSpan(ROOT_CONTEXT, span), work);
  }

  /** Runs the work in a new span, which ends with the work. */
  async inSpan<T>(
    name: string,
    options: () => SpanOptions,
    work: (span: Span | undefined) => Promise<T>,
  ): Promise<T> {
    if (!this.traces) return work(undefined);
    const span = this.begin(name, options());
    try {
      return await this.within(span, () => work(span));
    } catch (error) {
      // Only the name, because the message may contain secrets.
      const kind = error instanceof Error ? error.name : 'Error';
      span?.setAttribute('error.type', kind).setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span?.end();
    }
  }

  async onApplicationShutdown(): Promise<void> {
    const closed = this.traces?.close().catch(() => undefined);
    await Promise.race([closed, pause(CLOSE_TIMEOUT, undefined, { ref: false })]);
  }
}

const SPANS = new CounterMetric({
  name: 'mcs_trace_spans_total',
  help: 'Spans by outcome: `exported` to the collector, or `lost` because the export failed.',
  labels: ['outcome'],
});

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
