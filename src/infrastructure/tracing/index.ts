export { SpanKind, SpanStatusCode, type Span } from '@opentelemetry/api';
export { Tracing, type SpanOptions } from './tracing.js';
export { TracingModule } from './tracing.module.js';
