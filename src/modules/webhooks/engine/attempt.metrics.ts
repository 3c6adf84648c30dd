import { Injectable } from '@nestjs/common';
import { TRANSPORT_FAILURES } from '../../../infrastructure/http-client/index.js';
import { CounterMetric, HistogramMetric, Metrics } from '../../../infrastructure/metrics/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import type { FinishedAttempt } from './delivery.js';

/** In place of the reason of a failure. */
const NO_REASON = 'none';

const ATTEMPTS = new CounterMetric({
  name: 'mcs_webhook_attempts_total',
  help: 'Attempts that ended, by the reason of their failure; `none`: the receiver answered 200.',
  labels: ['reason'],
});
const DURATION = new HistogramMetric({
  name: 'mcs_webhook_attempt_duration_seconds',
  help: 'From the look at the URL to the answer of the receiver, or to the failure.',
  labels: ['outcome'],
});
const ENDED = new CounterMetric({
  name: 'mcs_webhook_deliveries_ended_total',
  help: 'Deliveries that left the queue: `delivered`, or `given_up` after their last attempt.',
  labels: ['outcome'],
});

/** What is measured of attempts, in the process that makes them. */
@Injectable()
export class AttemptMetrics {
  private readonly attempts = this.metrics.counter(ATTEMPTS);
  private readonly duration = this.metrics.histogram(DURATION);
  private readonly deliveries = this.metrics.counter(ENDED);

  constructor(private readonly metrics: Metrics) {
    for (const reason of [NO_REASON, ...TRANSPORT_FAILURES, 'NON_200', 'INTERRUPTED']) {
      this.attempts.inc({ reason }, 0);
    }
    for (const outcome of ['delivered', 'given_up']) this.deliveries.inc({ outcome }, 0);
  }

  ended({ delivery, outcome: { reason, phases } }: FinishedAttempt): void {
    const succeeded = reason === null;
    this.attempts.inc({ reason: reason ?? NO_REASON });
    this.duration.observe({ outcome: succeeded ? 'success' : 'failure' }, phases.total / SECOND);
    if (succeeded) this.deliveries.inc({ outcome: 'delivered' });
    else if (delivery.attempt >= delivery.attemptsAllowed) this.deliveries.inc({ outcome: 'given_up' });
  }
}
