import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { SpanKind, SpanStatusCode, Tracing, type Span } from '../tracing/index.js';
import type { RequestContext } from './request-context.js';
import { methodOf, routeOf } from './request-labels.js';

/** A span for each request, named by OpenTelemetry's conventions for HTTP. Of paths it tells the pattern alone. */
@Injectable()
export class RequestSpans {
  constructor(private readonly tracing: Tracing) {}

  /** Undefined without a collector. */
  begin(request: Request): Span | undefined {
    return this.tracing.begin(methodOf(request), { kind: SpanKind.SERVER, headers: request.headers });
  }

  /** What is done during the work is done for the request. */
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
      ...(context.client && { 'mcs.client_id': context.client.clientId }),
    });
    if (route !== undefined) span.updateName(`${method} ${route}`);
    if (statusCode >= 500) {
      span.setAttribute('error.type', String(statusCode)).setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end();
  }
}
