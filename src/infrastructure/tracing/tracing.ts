import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import {
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type SpanKind,
  defaultTextMapGetter,
  type TextMapPropagator,
  type Tracer,
} from '@opentelemetry/api';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { CounterMetric, type Metrics } from '../metrics/index.js';
import { MINUTE, SECOND, type Clock } from '../time/index.js';
import type { TracingConfiguration } from './tracing.configuration.js';

/** Milliseconds. A slow collector must not delay spans or a shutdown for long. */
const EXPORT_TIMEOUT = 5 * SECOND;
const TRACER = 'merchant-connectivity-service';

/** Called after each export with the number of spans, and with the error if it failed. */
type ExportListener = (spans: number, error: unknown) => void;

/** Creates and exports spans, if a collector is configured. */
export interface TraceExport {
  readonly tracer: Tracer;
  /** Extracts the trace context of the client from request headers (W3C Trace Context). */
  contextOf(headers: Readonly<Record<string, string | string[] | undefined>>): Context;
  /** Exports the remaining spans. */
  close(): Promise<void>;
}

/**
 * Imports OpenTelemetry's SDK on demand, because it would slow down the start of processes without a collector.
 * Registers nothing globally, so that several applications in one process have separate pipelines.
 */
async function openTraceExport(
  configuration: TracingConfiguration,
  listener: ExportListener,
): Promise<TraceExport> {
  const [core, exporters, resources, sdk] = await Promise.all([
    import('@opentelemetry/core'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace'),
  ]);
  const exporter = new exporters.OTLPTraceExporter({
    url: `${String(configuration.endpoint).replace(/\/+$/, '')}/v1/traces`,
    // The exporter sends a `User-Agent` of its own.
    headers: { Accept: '*/*', 'Accept-Encoding': 'identity', ...configuration.headerFields },
    timeoutMillis: EXPORT_TIMEOUT,
  });
  const sampler = new sdk.TraceIdRatioBasedSampler(configuration.sampledShare);
  const provider = new sdk.TracerProvider({
    resource: resources.resourceFromAttributes(configuration.resource),
    // Clients must not decide how many traces are kept, so their sampling decision is ignored.
    sampler: new sdk.ParentBasedSampler({
      root: sampler,
      remoteParentSampled: sampler,
      remoteParentNotSampled: sampler,
    }),
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter: withListener(exporter, listener),
        exportTimeoutMillis: EXPORT_TIMEOUT,
      }),
    ],
  });
  const propagator: TextMapPropagator = new core.W3CTraceContextPropagator();
  return {
    tracer: provider.getTracer(TRACER),
    contextOf: (headers) => propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter),
    close: () => provider.shutdown(),
  };
}

function withListener(exporter: SpanExporter, listener: ExportListener): SpanExporter {
  return {
    export: (spans: ReadableSpan[], done) =>
      exporter.export(spans, (result) => {
        // 0 is success (ExportResultCode).
        listener(
          spans.length,
          result.code === 0 ? undefined : (result.error ?? new Error('The collector rejected the spans')),
        );
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}

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

  within<T>(span: Span | undefined, work: () => T): T {
    if (!span) return work();
    return this.current.run(trace.setSpan(ROOT_CONTEXT, span), work);
  }

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

/** Returns what creates spans, and exports them if a collector is configured. */
export async function openTracing(
  configuration: TracingConfiguration,
  metrics: Metrics,
  clock: Clock,
): Promise<Tracing> {
  const listener = countedExports(metrics, clock);
  return new Tracing(configuration.endpoint ? await openTraceExport(configuration, listener) : undefined);
}

/** Counts exports and logs failures, at most once a minute. */
function countedExports(metrics: Metrics, clock: Clock): ExportListener {
  const logger = new Logger('Traces');
  const counter = metrics.counter(SPANS);
  for (const outcome of ['exported', 'lost']) counter.inc({ outcome }, 0);
  let nextWarningAt = -Infinity;
  return (spans, error) => {
    counter.inc({ outcome: error === undefined ? 'exported' : 'lost' }, spans);
    if (error === undefined || clock.monotonic() < nextWarningAt) return;
    nextWarningAt = clock.monotonic() + MINUTE;
    logger.warn(`Traces could not be exported: ${(error as Error).message}`);
  };
}
