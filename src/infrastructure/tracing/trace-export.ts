import {
  defaultTextMapGetter,
  ROOT_CONTEXT,
  type Context,
  type TextMapPropagator,
  type Tracer,
} from '@opentelemetry/api';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { SECOND } from '../time/index.js';
import type { TracingConfiguration } from './tracing.configuration.js';

/** Milliseconds. A slow collector must not delay spans or a shutdown for long. */
const EXPORT_TIMEOUT = 5 * SECOND;
const TRACER = 'merchant-connectivity-service';

/** Called after each export with the number of spans, and with the error if it failed. */
export type ExportListener = (spans: number, error: unknown) => void;

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
export async function openTraceExport(
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
    resource: resources.resourceFromAttributes({ 'service.name': configuration.serviceName }),
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
