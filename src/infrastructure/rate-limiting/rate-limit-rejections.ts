import { Injectable } from '@nestjs/common';
import { CounterMetric, Metrics } from '../metrics/index.js';

const REJECTIONS = new CounterMetric({
  name: 'mcs_rate_limit_refusals_total',
  help: 'Requests and attempts that were refused because they exceeded a limit.',
  labels: ['limit'],
});

/** Counts how often each limit refused a request or an attempt. */
@Injectable()
export class RateLimitRejections {
  private readonly rejections = this.metrics.counter(REJECTIONS);

  constructor(private readonly metrics: Metrics) {}

  /** Exposes the limit in the metrics. @returns a function to call for each refusal */
  of(limit: string): () => void {
    this.rejections.inc({ limit }, 0);
    return () => this.rejections.inc({ limit });
  }
}
