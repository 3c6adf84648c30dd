import { Injectable, Logger } from '@nestjs/common';
import {
  BatchedStatement,
  isDatabaseUnavailable,
  isMissingPartition,
  Transactional,
} from '../../../infrastructure/database/index.js';
import { HttpClient } from '../../../infrastructure/http-client/index.js';
import { maskedUrl } from '../../../infrastructure/logging/index.js';
import { Clock, SECOND } from '../../../infrastructure/time/index.js';
import { Tracing } from '../../../infrastructure/tracing/index.js';
import { SigningSecrets } from '../../api-clients/index.js';
import { RequestLogStore, type NewRequestLogEntry } from '../../request-logs/index.js';
import { deliveryHeaders } from '../signing/delivery-headers.js';
import { AttemptMetrics } from './attempt.metrics.js';
import { attemptSpan, describeOutcome } from './attempt-span.js';
import type { ClaimedDelivery, FinishedAttempt, Outcome } from './delivery.js';
import { DeliveryQueue } from './delivery-queue.js';
import { DeliveryQueueRepository } from './delivery-queue.repository.js';
import { delayUntilRetry } from './retry-schedule.js';
import { WebhookDeliveriesConfiguration } from './webhook-deliveries.configuration.js';

/** Success is this status and nothing else (specification, "Delivery"). */
const OK = 200;
const ATTEMPTS_PER_TRANSACTION = 200;
const TRANSACTIONS_AT_ONCE = 2;
const SETTLE_AGAIN_AFTER = SECOND;

/**
 * Makes attempts and ends them: what becomes of the delivery and the entry in the request log are one
 * transaction, in which all attempts are settled that ended meanwhile.
 */
@Injectable()
export class Attempts {
  private readonly logger = new Logger('Webhooks');
  private readonly finished = new BatchedStatement<FinishedAttempt>({
    execute: (attempts) => this.settle(attempts),
    maxRows: ATTEMPTS_PER_TRANSACTION,
    maxStatements: TRANSACTIONS_AT_ONCE,
    retryAfter: (error) => {
      if (isMissingPartition(error)) return 0;
      return isDatabaseUnavailable(error) ? SETTLE_AGAIN_AFTER : undefined;
    },
  });

  constructor(
    private readonly queue: DeliveryQueue,
    private readonly repository: DeliveryQueueRepository,
    private readonly requestLog: RequestLogStore,
    private readonly secrets: SigningSecrets,
    private readonly http: HttpClient,
    private readonly clock: Clock,
    private readonly configuration: WebhookDeliveriesConfiguration,
    private readonly metrics: AttemptMetrics,
    private readonly tracing: Tracing,
  ) {}

  /** Makes the attempt and ends it. */
  make(delivery: ClaimedDelivery): Promise<Outcome> {
    const name = `deliver ${delivery.event.name}`;
    return this.tracing.inSpan(
      name,
      () => attemptSpan(delivery),
      async (span) => {
        const outcome = await this.send(delivery);
        if (span) describeOutcome(span, outcome);
        await this.end({ delivery, outcome });
        return outcome;
      },
    );
  }

  /** Resolves when it is settled. */
  end(attempt: FinishedAttempt): Promise<void> {
    this.metrics.ended(attempt);
    return this.finished.add(attempt);
  }

  private async send({ url, event, client }: ClaimedDelivery): Promise<Outcome> {
    const secret = await this.secrets.of(client.clientId);
    const { id: eventId, name, sessionId, body } = event;
    const headers = deliveryHeaders({
      eventId,
      event: name,
      ...(sessionId !== null && { sessionId }),
      body,
      now: this.clock.now(),
      secret,
    });
    // Many endpoints may be of one host, which must not wait for each other: the lanes are the limit.
    const connections = this.configuration.concurrency;
    const result = await this.http.post({ url, headers, body, connections });
    const { statusCode, failure, explanation, retryAfterSeconds, phases } = result;
    return {
      statusCode,
      reason: failure ?? (statusCode === OK ? null : 'NON_200'),
      ...(explanation !== null && { explanation }),
      ...(retryAfterSeconds !== null && { retryAfterMilliseconds: retryAfterSeconds * SECOND }),
      phases,
    };
  }

  @Transactional()
  private async settle(attempts: readonly FinishedAttempt[]): Promise<void> {
    const owned = await this.queue.settle(attempts.map((attempt) => this.settlementOf(attempt)));
    const lost = attempts.filter(({ delivery }) => !owned.has(delivery.id));
    const isLogged = lost.length === 0 ? () => true : await this.isLogged(lost, owned);
    const entries = attempts.filter(isLogged).map((attempt) => this.entryOf(attempt));
    if (entries.length > 0) await this.requestLog.append(entries);
  }

  /** Where the lease was lost, another process has logged the attempt; where the endpoint is gone, nobody has. */
  private async isLogged(
    lost: readonly FinishedAttempt[],
    owned: ReadonlySet<string>,
  ): Promise<(attempt: FinishedAttempt) => boolean> {
    const existing = await this.repository.existing(lost.map(({ delivery }) => delivery.endpointId));
    for (const { delivery } of lost) {
      if (!existing.has(delivery.endpointId)) continue;
      this.logger.warn('The lease of an attempt was lost', {
        delivery: delivery.id,
        attempt: delivery.attempt,
      });
    }
    return ({ delivery }) => owned.has(delivery.id) || !existing.has(delivery.endpointId);
  }

  private settlementOf({ delivery, outcome }: FinishedAttempt) {
    const succeeded = outcome.reason === null;
    const { id, claimId, endpointId, attempt: attempts, attemptsAllowed: allowed } = delivery;
    const delay = succeeded
      ? undefined
      : delayUntilRetry(
          { attempts, allowed },
          this.configuration.retryDelays,
          outcome.retryAfterMilliseconds,
        );
    return { deliveryId: id, claimId, endpointId, succeeded, retryIn: delay ?? null };
  }

  private entryOf({ delivery, outcome }: FinishedAttempt): NewRequestLogEntry {
    const { client, event, endpointId, url, attempt } = delivery;
    const { statusCode, reason, phases } = outcome;
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
      attempt: { endpointId, eventId: event.id, number: attempt, reason, phases },
    };
  }
}
