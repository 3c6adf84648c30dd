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
import type { ClaimedDelivery, FinishedAttempt, Outcome, QueuedDelivery } from './delivery.js';
import {
  DeliveryQueueRepository,
  type LockedLane,
  type SelectedEvents,
  type Settlement,
} from './delivery-queue.repository.js';
import { delayUntilRetry, longestDelayOfFirstRetry } from './retry-delay.js';

/** Attempts that a process can start now. */
export interface ClaimableRoom {
  readonly free: number;
  readonly freeForUnproven: number;
  /** Those that unproven endpoints can use besides the first one of each. */
  readonly furtherForUnproven: number;
  readonly fullOrganizations: readonly string[];
  freeFor(organizationId: string | null): number;
}

/**
 * Consecutive failures after which an endpoint gets one attempt at a time, with a pause before each unless its last
 * success is recent.
 */
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

  @Transactional()
  async claim(room: ClaimableRoom): Promise<QueuedDelivery[]> {
    const due = await this.repository.lockDueLanes({
      width: this.configuration.endpointConcurrency,
      failuresUntilNarrow: FAILURES_UNTIL_NARROW,
      unproven: room.freeForUnproven,
      fullOrganizations: room.fullOrganizations,
    });
    const lanes = withinShares(due, room);
    if (lanes.size === 0) return [];
    const claimed = await this.repository.claim([...lanes.values()], room.free);
    return claimed.map((delivery) => ({ ...delivery, lane: lanes.get(delivery.endpointId) as LockedLane }));
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
        failuresUntilNarrow: FAILURES_UNTIL_NARROW,
        // If every first attempt fails and its retry succeeds, there is a success within the longest delay of a first retry.
        grace: longestDelayOfFirstRetry(this.configuration.retryDelays),
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

/**
 * Returns the lanes by endpoint, with their room reduced to what is left for their organizations and for unproven
 * endpoints. Every unproven endpoint gets one slot before any of them gets a second one.
 */
function withinShares(lanes: readonly LockedLane[], free: ClaimableRoom): Map<string, LockedLane> {
  const left = new Map<string | null, number>();
  const kept = new Map<string, LockedLane>();
  let furtherForUnproven = free.furtherForUnproven;
  for (const lane of lanes) {
    const { endpointId, organizationId, isProven } = lane;
    const available = left.get(organizationId) ?? free.freeFor(organizationId);
    const first = !isProven && lane.isIdle ? 1 : 0;
    const wanted = isProven ? lane.room : first + Math.min(lane.room - first, furtherForUnproven);
    const room = Math.min(wanted, available);
    left.set(organizationId, available - room);
    if (room === 0) continue;
    if (!isProven) furtherForUnproven -= room - first;
    kept.set(endpointId, { ...lane, room });
  }
  return kept;
}

function interruptedAfter(total: number): Outcome {
  const phases = { dns: null, connect: null, tls: null, firstByte: null, total };
  return { statusCode: 0, reason: 'INTERRUPTED', phases };
}
