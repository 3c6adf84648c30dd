import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import {
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type SpanKind,
} from '@opentelemetry/api';
import { SECOND } from '../time/index.js';
import type { TraceExport } from './trace-export.js';

/** Milliseconds that a shutdown waits for the collector. */
const CLOSE_TIMEOUT = 2 * SECOND;

export interface SpanOptions {
  readonly kind: SpanKind;
  /** Nothing secret: they leave the house. URLs are masked (`maskedUrl`). */
  readonly attributes?: Attributes;
  /** Of a request that comes in, whose caller may be in a trace already. */
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
}

/** Spans of what this process does, each under the one that it is done for. Without a collector it does nothing. */
@Injectable()
export class Tracing implements OnApplicationShutdown {
  /** The span that what runs now is done for. */
  private readonly current = new AsyncLocalStorage<Context>();

  constructor(private readonly traces?: TraceExport) {}

  /** A span that whoever begins it also ends; undefined when there is no collector. */
  begin(name: string, { kind, attributes, headers }: SpanOptions): Span | undefined {
    if (!this.traces) return undefined;
    const parent = headers ? this.traces.contextOf(headers) : this.current.getStore();
    return this.traces.tracer.startSpan(
      name,
      { kind, ...(attributes && { attributes }) },
      parent ?? ROOT_CONTEXT,
    );
  }

  /** What is begun during the work, also later in it, is done for the span. */
  within<T>(span: Span | undefined, work: () => T): T {
    if (!span) return work();
    return this.current.run(trace.setSpan(ROOT_CONTEXT, span), work);
  }

  /** Does the work in a span of its own, which ends with it. */
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
      // Its message may quote what nobody outside should read.
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
