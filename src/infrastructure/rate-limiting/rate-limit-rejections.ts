import { Injectable } from '@nestjs/common';
import { CounterMetric, Metrics } from '../metrics/index.js';

const REFUSALS = new CounterMetric({
  name: 'mcs_rate_limit_refusals_total',
  help: 'Requests and attempts that were refused because there had been too many.',
  labels: ['limit'],
});

/** Counts how often each limit was met. */
@Injectable()
export class RateLimitRejections {
  private readonly refusals = this.metrics.counter(REFUSALS);

  constructor(private readonly metrics: Metrics) {}

  /** @returns what to call for each refusal by the limit of this name, which is shown from now on */
  of(limit: string): () => void {
    this.refusals.inc({ limit }, 0);
    return () => this.refusals.inc({ limit });
  }
}
