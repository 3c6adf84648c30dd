import { Injectable } from '@nestjs/common';
import { maskedUrl } from '../../../infrastructure/logging/index.js';
import { CounterMetric, HistogramMetric, Metrics } from '../../../infrastructure/metrics/index.js';
import { Clock, SECOND } from '../../../infrastructure/time/index.js';
import type { NewRequestLogEntry } from '../../request-logs/index.js';
import { attemptsAllowedAfter, FAILURE_REASONS, type FinishedAttempt } from '../delivery.js';

/** Value of the label `reason` for attempts that succeeded. */
const NO_REASON = 'none';

const ATTEMPTS = new CounterMetric({
  name: 'mcs_webhook_attempts_total',
  help: 'Finished delivery attempts by failure reason; `none` means that the receiver returned 200.',
  labels: ['reason'],
});
const DURATION = new HistogramMetric({
  name: 'mcs_webhook_attempt_duration_seconds',
  help: 'Duration of delivery attempts, from checking the URL to the response or failure.',
  labels: ['outcome'],
});
const ENDED = new CounterMetric({
  name: 'mcs_webhook_deliveries_ended_total',
  help: 'Deliveries that left the queue: `delivered`, or `given_up` after the last attempt.',
  labels: ['outcome'],
});

/** Records finished attempts in this process's metrics, and describes them for the request log. */
@Injectable()
export class AttemptRecorder {
  private readonly attempts = this.metrics.counter(ATTEMPTS);
  private readonly duration = this.metrics.histogram(DURATION);
  private readonly deliveries = this.metrics.counter(ENDED);

  constructor(
    private readonly clock: Clock,
    private readonly metrics: Metrics,
  ) {
    for (const reason of [NO_REASON, ...FAILURE_REASONS]) {
      this.attempts.inc({ reason }, 0);
    }
    for (const outcome of ['delivered', 'given_up']) this.deliveries.inc({ outcome }, 0);
  }

  count(attempt: FinishedAttempt): void {
    const { reason, phases } = attempt.outcome;
    const succeeded = reason === null;
    this.attempts.inc({ reason: reason ?? NO_REASON });
    this.duration.observe({ outcome: succeeded ? 'success' : 'failure' }, phases.total / SECOND);
    if (succeeded) this.deliveries.inc({ outcome: 'delivered' });
    else if (attempt.delivery.attempt >= attemptsAllowedAfter(attempt))
      this.deliveries.inc({ outcome: 'given_up' });
  }

  /** Returns the entry of an attempt in the request log. */
  entryOf({ delivery, outcome }: FinishedAttempt): NewRequestLogEntry {
    const { client, event, endpointId, url, attempt } = delivery;
    const { statusCode, reason, responseBody, phases } = outcome;
    return {
      clientId: client.clientId,
      environment: client.environment,
      createdAt: this.clock.now(),
      type: 'webhook',
      method: 'POST',
      path: null,
      url: maskedUrl(url),
      event: event.name,
      statusCode,
      latencyMilliseconds: phases.total,
      sessionId: event.sessionId,
      taskId: event.taskId,
      externalUserId: event.externalUserId,
      attempt: { endpointId, eventId: event.id, number: attempt, reason, responseBody, phases },
    };
  }
}
