import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { CounterMetric, GaugeMetric, HistogramMetric, Metrics } from '../metrics/index.js';
import { SECOND } from '../time/index.js';
import { methodOf, routeOf } from './request-labels.js';

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

/** Metrics of HTTP requests. */
@Injectable()
export class RequestMetrics {
  private readonly requests = this.metrics.counter(REQUESTS);
  private readonly duration = this.metrics.histogram(DURATION);

  constructor(private readonly metrics: Metrics) {}

  /** @param count returns the number of requests in flight */
  watch(count: () => number): void {
    this.metrics.gauge(IN_FLIGHT, () => [{ labels: {}, value: count() }]);
  }

  completed(request: Request, response: Response, milliseconds: number): void {
    const method = methodOf(request);
    const route = routeOf(request) ?? UNMATCHED;
    this.requests.inc({ method, route, status: response.statusCode });
    this.duration.observe({ method, route }, milliseconds / SECOND);
  }
}
