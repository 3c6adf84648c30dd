import { Injectable, Logger } from '@nestjs/common';
import {
  BatchedStatement,
  isDatabaseUnavailable,
  isMissingPartition,
  Transaction,
  Transactional,
} from '../../../infrastructure/database/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import type { WebhookTarget } from '../../webhook-endpoints/index.js';
import type { StoredEvent } from '../events/webhook-events.repository.js';
import { WebhookDeliveriesConfiguration } from '../webhook-deliveries.configuration.js';
import { AttemptRecorder } from './attempt-recorder.js';
import type { ClaimedDelivery, FinishedAttempt, Outcome } from './delivery.js';
import {
  DeliveryQueueRepository,
  type SelectedEvents,
  type Settlement,
} from './delivery-queue.repository.js';
import { delayUntilRetry } from './retry-delay.js';

/**
 * Share of the free slots that one call to `claim()` gives to retries, so that failing deliveries don't delay new ones.
 * Retries of earlier calls are not counted.
 */
const RETRY_SHARE = 0.5;
/** Consecutive failures after which an endpoint gets one attempt at a time, with a pause before each. */
const FAILURES_UNTIL_NARROW = 5;
const PROBE_INTERVAL = SECOND;
const LANES_PER_WAKE_UP = 1_000;
const ATTEMPTS_PER_SETTLEMENT = 200;
const CONCURRENT_SETTLEMENTS = 2;
const SETTLEMENT_RETRY_DELAY = SECOND;
const EXPIRED_PER_RUN = 200;

/** The queue of deliveries: adds them, claims due ones for one process at a time, and settles their attempts. */
@Injectable()
export class DeliveryQueueService {
  private readonly logger = new Logger('Webhooks');
  /**
   * Wakes lanes after the publisher commits. Waking them inside the transaction would lock each lane until that
   * transaction ends. If the process ends before the lane is woken, `StrandedDeliveriesJob` wakes it within a second or two.
   */
  private readonly wakeUps = new BatchedStatement<string>({
    execute: (endpointIds) => this.repository.wakeLanes([...new Set(endpointIds)]),
    maxRows: LANES_PER_WAKE_UP,
    maxStatements: 1,
  });
  private readonly settlements = new BatchedStatement<FinishedAttempt>({
    execute: (attempts) => this.settleBatch(attempts),
    maxRows: ATTEMPTS_PER_SETTLEMENT,
    maxStatements: CONCURRENT_SETTLEMENTS,
    retryAfter: (error) => {
      if (isMissingPartition(error)) return 0;
      return isDatabaseUnavailable(error) ? SETTLEMENT_RETRY_DELAY : undefined;
    },
  });

  constructor(
    private readonly repository: DeliveryQueueRepository,
    private readonly recorder: AttemptRecorder,
    private readonly transaction: Transaction,
    private readonly configuration: WebhookDeliveriesConfiguration,
  ) {}

  /** Attempts that a delivery gets: the first one and its retries. */
  get attemptsAllowed(): number {
    return 1 + this.configuration.retryDelays.length;
  }

  /** Adds a delivery for each endpoint within the open transaction. The deliveries are due when it commits. */
  async add(event: StoredEvent, endpoints: readonly WebhookTarget[]): Promise<void> {
    await this.repository.add(event, endpoints, this.attemptsAllowed);
    this.wakeAfterCommit(endpoints);
  }

  /**
   * Adds a delivery for each of the events within the open transaction, except for events that are no longer stored, and
   * events that the queue already has for this endpoint.
   *
   * @returns how many were added
   */
  async addMissing(endpoint: WebhookTarget, events: SelectedEvents): Promise<number> {
    const added = await this.repository.addMissing(endpoint, events, this.attemptsAllowed);
    this.wakeAfterCommit([endpoint]);
    return added;
  }

  /** Adds a delivery with one attempt, already claimed for the calling process. */
  async addClaimed(event: StoredEvent, endpoint: WebhookTarget): Promise<ClaimedDelivery> {
    return this.repository.addClaimed(event, endpoint);
  }

  /**
   * Prevents attempts to the endpoint from being claimed or settled until the open transaction ends.
   *
   * @returns whether the endpoint still exists
   */
  async lockLane(endpointId: string): Promise<boolean> {
    return this.repository.lockLane(endpointId);
  }

  /** @param slots attempts that this process can start now */
  @Transactional()
  async claim(slots: number): Promise<ClaimedDelivery[]> {
    const lanes = await this.repository.lockDueLanes(this.configuration.endpointConcurrency);
    if (lanes.length === 0) return [];
    return this.repository.claim(lanes, { deliveries: slots, retries: Math.ceil(slots * RETRY_SHARE) });
  }

  /** Resolves when the attempt is settled. Attempts that end at about the same time are settled together. */
  settle(attempt: FinishedAttempt): Promise<void> {
    this.recorder.count(attempt);
    return this.settlements.add(attempt);
  }

  /** Wakes lanes that their publisher could not wake, and settles attempts whose lease has expired. */
  async resumeStranded(): Promise<void> {
    await this.repository.wakeForgottenLanes();
    // Count interrupted attempts; otherwise an event that crashes its process would be retried forever.
    const expired = await this.repository.expired(EXPIRED_PER_RUN);
    await Promise.all(
      expired.map(({ startedMillisecondsAgo, ...delivery }) =>
        this.settle({ delivery, outcome: interruptedAfter(startedMillisecondsAgo) }),
      ),
    );
  }

  private wakeAfterCommit(endpoints: readonly WebhookTarget[]): void {
    this.transaction.afterCommit(() => {
      for (const { id } of endpoints) {
        this.wakeUps
          .add(id)
          .catch((error: unknown) =>
            this.logger.warn('A lane was not woken; a job will wake it within seconds', error),
          );
      }
    });
  }

  /** Deliveries, lanes and request log change in one transaction. */
  @Transactional()
  private async settleBatch(attempts: readonly FinishedAttempt[]): Promise<void> {
    const settled = await this.repository.settle(
      attempts.map((attempt) => this.settlementOf(attempt)),
      {
        width: this.configuration.endpointConcurrency,
        failuresUntilNarrow: FAILURES_UNTIL_NARROW,
        probeInterval: PROBE_INTERVAL,
      },
    );
    const unsettled = attempts.filter(({ delivery }) => !settled.has(delivery.id));
    const expired = unsettled.length === 0 ? unsettled : await this.withExistingEndpoint(unsettled);
    for (const { delivery } of expired) {
      const { id, attempt } = delivery;
      this.logger.warn('The lease of an attempt expired before it was settled', { delivery: id, attempt });
    }
    await this.recorder.log(attempts.filter((attempt) => !expired.includes(attempt)));
  }

  /**
   * Returns the attempts whose endpoint still exists. Their lease expired, so another process has already logged them.
   * If the endpoint was deleted, nothing has logged the attempt yet.
   */
  private async withExistingEndpoint(attempts: readonly FinishedAttempt[]): Promise<FinishedAttempt[]> {
    const ids = attempts.map(({ delivery }) => delivery.endpointId);
    const existing = await this.repository.existingEndpoints(ids);
    return attempts.filter(({ delivery }) => existing.has(delivery.endpointId));
  }

  private settlementOf({ delivery, outcome }: FinishedAttempt): Settlement {
    const { id: deliveryId, claimId, endpointId, attempt: attempts, attemptsAllowed: allowed } = delivery;
    const succeeded = outcome.reason === null;
    const { retryDelays } = this.configuration;
    const retryIn = succeeded
      ? undefined
      : delayUntilRetry({ attempts, allowed }, retryDelays, outcome.retryAfterMilliseconds);
    return { deliveryId, claimId, endpointId, succeeded, retryIn: retryIn ?? null };
  }
}

function interruptedAfter(total: number): Outcome {
  const phases = { dns: null, connect: null, tls: null, firstByte: null, total };
  return { statusCode: 0, reason: 'INTERRUPTED', phases };
}
