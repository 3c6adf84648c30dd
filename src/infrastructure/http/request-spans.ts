import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { SpanKind, SpanStatusCode, Tracing, type Span } from '../tracing/index.js';
import type { RequestContext } from './request-context.js';
import { methodOf, routeOf } from './request-labels.js';

/** A span for each request (OpenTelemetry semantic conventions for HTTP), with the route instead of the path. */
@Injectable()
export class RequestSpans {
  constructor(private readonly tracing: Tracing) {}

  /** Returns undefined if tracing is disabled. */
  begin(request: Request): Span | undefined {
    return this.tracing.begin(methodOf(request), { kind: SpanKind.SERVER, headers: request.headers });
  }

  /** Runs the work with the span as the parent of further spans. */
  within(span: Span | undefined, work: () => void): void {
    this.tracing.within(span, work);
  }

  end(span: Span, request: Request, response: Response, context: RequestContext): void {
    const [method, route] = [methodOf(request), routeOf(request)];
    const { statusCode } = response;
    span.setAttributes({
      'http.request.method': method,
      'http.response.status_code': statusCode,
      'mcs.request_id': context.requestId,
      ...(route !== undefined && { 'http.route': route }),
      ...(context.tool !== undefined && { 'gen_ai.tool.name': context.tool }),
      ...(context.client && { 'mcs.client_id': context.client.clientId }),
    });
    if (route !== undefined) span.updateName(`${method} ${route}`);
    if (statusCode >= 500) {
      span.setAttribute('error.type', String(statusCode)).setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end();
  }
}
