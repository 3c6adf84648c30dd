import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { CounterMetric, GaugeMetric, HistogramMetric, Metrics } from '../metrics/index.js';
import { SECOND } from '../time/index.js';
import { SpanStatusCode, type Span } from '../tracing/index.js';
import type { RequestContext } from './request-context.js';

/** Other methods must not become label values, because clients can send any text. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const OTHER_METHOD = '_OTHER';

/** Returns the pattern of the matched route, or undefined if no route matched. */
export function routeOf(request: Request): string | undefined {
  return (request.route as { path?: string } | undefined)?.path;
}

/** Characters. The buffer of the request log may hold 50,000 paths, and Node.js accepts some of 16,000. Operations have shorter ones. */
const MAX_PATH_LENGTH = 1_024;

/**
 * Returns the path for the request log, cut, and without the identifier of a user, which must not get into the log's statistics.
 */
export function recordedPath(request: Request): string {
  const namesUser =
    (request.params as Readonly<Record<string, unknown>> | undefined)?.['external_user_id'] !== undefined;
  if (namesUser) return (routeOf(request) ?? '').replaceAll(/:(\w+)/g, '{$1}');
  const { path } = request;
  // A slice alone would keep the whole path in memory.
  return path.length <= MAX_PATH_LENGTH ? path : Buffer.from(path.slice(0, MAX_PATH_LENGTH)).toString();
}

/** Returns the method or `_OTHER` (OpenTelemetry semantic conventions for HTTP). */
export function methodOf(request: Request): string {
  return METHODS.has(request.method) ? request.method : OTHER_METHOD;
}

/** Label of unknown paths and of the documentation's files, which have no route. */
const UNMATCHED = 'unmatched';

const REQUESTS = new CounterMetric({
  name: 'mcs_http_requests_total',
  help: 'Completed requests. `route` is the pattern of the route, or `unmatched`.',
  labels: ['method', 'route', 'status'],
});
const DURATION = new HistogramMetric({
  name: 'mcs_http_request_duration_seconds',
  help: 'Time from the request headers to the response, including the request log entry.',
  labels: ['method', 'route'],
});
const IN_FLIGHT = new GaugeMetric({
  name: 'mcs_http_requests_in_flight',
  help: 'Requests that are being processed.',
});

const OLDEST = new GaugeMetric({
  name: 'mcs_http_oldest_request_age_seconds',
  help: 'Age of the oldest request whose response has not begun; 0 if there is none. Requests that hang are in no other metric until they end.',
});

/** Metrics of HTTP requests. */
@Injectable()
export class RequestMetrics {
  private readonly requests = this.metrics.counter(REQUESTS);
  private readonly duration = this.metrics.histogram(DURATION);

  constructor(private readonly metrics: Metrics) {}

  /**
   * @param count returns the number of requests in flight
   * @param oldestMilliseconds returns the age of the oldest one whose response has not begun
   */
  watch(count: () => number, oldestMilliseconds: () => number): void {
    this.metrics.value(IN_FLIGHT, count);
    this.metrics.value(OLDEST, () => oldestMilliseconds() / SECOND);
  }

  completed(request: Request, response: Response, milliseconds: number): void {
    const method = methodOf(request);
    const route = routeOf(request) ?? UNMATCHED;
    this.requests.inc({ method, route, status: response.statusCode });
    this.duration.observe({ method, route }, milliseconds / SECOND);
  }
}

/** Ends the span of a request (OpenTelemetry semantic conventions for HTTP), with the route instead of the path. */
export function endSpan(span: Span, request: Request, response: Response, context: RequestContext): void {
  const method = methodOf(request);
  const route = routeOf(request);
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
