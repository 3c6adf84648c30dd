export { SpanKind, SpanStatusCode, type Span } from '@opentelemetry/api';
export { Tracing, TracingModule, type SpanOptions } from './tracing.js';
