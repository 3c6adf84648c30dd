import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { CounterMetric, GaugeMetric, HistogramMetric, Metrics } from '../metrics/index.js';
import { SECOND } from '../time/index.js';
import { methodOf, routeOf } from './request-labels.js';

/** Unknown paths, and files of the documentation, which have no route of ours. */
const UNMATCHED = 'unmatched';

const REQUESTS = new CounterMetric({
  name: 'mcs_http_requests_total',
  help: 'Requests that were answered. `route` is the pattern, or `unmatched`.',
  labels: ['method', 'route', 'status'],
});
const DURATION = new HistogramMetric({
  name: 'mcs_http_request_duration_seconds',
  help: 'From the head of a request to its answer, the log entry included.',
  labels: ['method', 'route'],
});
const UNDER_WAY = new GaugeMetric({
  name: 'mcs_http_requests_under_way',
  help: 'Requests that wait for their answer.',
});

/** What is measured of requests. */
@Injectable()
export class RequestMetrics {
  private readonly requests = this.metrics.counter(REQUESTS);
  private readonly duration = this.metrics.histogram(DURATION);

  constructor(private readonly metrics: Metrics) {}

  /** @param count requests that are not answered yet */
  watch(count: () => number): void {
    this.metrics.gauge(UNDER_WAY, () => [{ labels: {}, value: count() }]);
  }

  completed(request: Request, response: Response, milliseconds: number): void {
    const method = methodOf(request);
    const route = routeOf(request) ?? UNMATCHED;
    this.requests.inc({ method, route, status: response.statusCode });
    this.duration.observe({ method, route }, milliseconds / SECOND);
  }
}
