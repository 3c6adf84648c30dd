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

/** Milliseconds. A collector that is slow must not hold spans, or a shutdown, up for long. */
const EXPORT_TIMEOUT = 5 * SECOND;
const TRACER = 'merchant-connectivity-service';

/** Hears what became of spans that were to be exported. */
export type ExportListener = (spans: number, error: unknown) => void;

/** Where spans are made and go to, when a collector is configured. */
export interface TraceExport {
  readonly tracer: Tracer;
  /** The trace that the caller of a request is in (W3C Trace Context). */
  contextOf(headers: Readonly<Record<string, string | string[] | undefined>>): Context;
  /** Sends what waits. */
  close(): Promise<void>;
}

/**
 * Imports OpenTelemetry's SDK, which nobody who has no collector should wait for, and keeps it to itself: nothing is
 * registered for the whole process, so applications beside each other have a pipeline each.
 */
export async function openTraceExport(
  configuration: TracingConfiguration,
  hear: ExportListener,
): Promise<TraceExport> {
  const [core, exporters, resources, sdk] = await Promise.all([
    import('@opentelemetry/core'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace'),
  ]);
  const exporter = new exporters.OTLPTraceExporter({
    url: `${String(configuration.endpoint).replace(/\/+$/, '')}/v1/traces`,
    headers: configuration.headerFields,
    timeoutMillis: EXPORT_TIMEOUT,
  });
  const share = new sdk.TraceIdRatioBasedSampler(configuration.sampledShare);
  const provider = new sdk.TracerProvider({
    resource: resources.resourceFromAttributes({ 'service.name': configuration.serviceName }),
    // Strangers call this service: what they say of their own traces must not decide how many are kept here.
    sampler: new sdk.ParentBasedSampler({
      root: share,
      remoteParentSampled: share,
      remoteParentNotSampled: share,
    }),
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter: heard(exporter, hear),
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

function heard(exporter: SpanExporter, hear: ExportListener): SpanExporter {
  return {
    export: (spans: ReadableSpan[], done) =>
      exporter.export(spans, (result) => {
        // 0 is success (ExportResultCode).
        hear(spans.length, result.code === 0 ? undefined : (result.error ?? new Error('It was refused')));
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}
