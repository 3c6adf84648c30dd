import { Injectable, Logger } from '@nestjs/common';
import {
  BatchedStatement,
  isMissingPartition,
  isTransientFailure,
  Transaction,
  Transactional,
} from '../../../infrastructure/database/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import { WebhookDeliveriesConfiguration } from '../webhook-deliveries.configuration.js';
import type { AttemptSlots } from './attempt-slots.js';
import { AttemptRecorder } from './attempt-recorder.js';
import {
  attemptsAllowedAfter,
  delayUntilRetry,
  type FinishedAttempt,
  type Outcome,
  type QueuedDelivery,
} from './delivery.js';
import { DeliveryQueueRepository } from './delivery-queue.repository.js';
import type { LocalWorker } from './publications.batch.js';
import type { LockedLane } from './sql/lock-due-lanes.js';
import type { Settlement } from './sql/settle-attempts.js';

export interface ClaimedBatch {
  readonly deliveries: readonly QueuedDelivery[];
  /** Endpoints whose lanes were looked at. They no longer need a notification. */
  readonly endpointIds: readonly string[];
}

const ATTEMPTS_PER_SETTLEMENT = 200;
const CONCURRENT_SETTLEMENTS = 2;
/**
 * Milliseconds. Attempts that end within this time are settled together, or as soon as there are enough of them. Unsettled
 * attempts are made again if the process is killed, so there must not be many.
 */
const SETTLEMENT_INTERVAL = 50;
const ENOUGH_ATTEMPTS = 4;
const SETTLEMENT_RETRY_DELAY = SECOND;
const EXPIRED_PER_RUN = 200;

class LeasesExpired extends Error {
  constructor(readonly attempts: readonly FinishedAttempt[]) {
    super('The leases of attempts expired before they were settled');
  }
}

/** Claims due deliveries for one process at a time, and settles their attempts. */
@Injectable()
export class DeliveryQueueService {
  private readonly logger = new Logger('Webhooks');
  private readonly settlements = new BatchedStatement<FinishedAttempt>({
    execute: (attempts) => this.settleUnexpired(attempts),
    maxRows: ATTEMPTS_PER_SETTLEMENT,
    maxStatements: CONCURRENT_SETTLEMENTS,
    minInterval: SETTLEMENT_INTERVAL,
    enoughRows: ENOUGH_ATTEMPTS,
    retryAfter: (error) => {
      if (isMissingPartition(error)) return 0;
      return isTransientFailure(error) ? SETTLEMENT_RETRY_DELAY : undefined;
    },
  });

  constructor(
    private readonly repository: DeliveryQueueRepository,
    private readonly recorder: AttemptRecorder,
    private readonly transaction: Transaction,
    private readonly configuration: WebhookDeliveriesConfiguration,
  ) {}

  /** Workers that were not connected when `resumeStranded()` last ran. */
  private absentWorkers: readonly number[] = [];

  /** Set by `DeliveryWorker`, if this process has one. */
  worker: LocalWorker | undefined;

  /**
   * @param worker identifies the process
   * @param notified endpoints that have new deliveries, although their lanes may not say so
   */
  @Transactional()
  async claim(worker: number, slots: AttemptSlots, notified: readonly string[]): Promise<ClaimedBatch> {
    const due = await this.repository.lockDueLanes({
      maxUnproven: slots.freeForUnproven,
      fullOrganizations: slots.fullOrganizations,
      notified,
    });
    if (due.length === 0) return { deliveries: [], endpointIds: [] };
    const lanes = withinShares(due, slots);
    // Claiming sets when a lane is due next, also for a lane without room.
    const claimed = await this.repository.claim([...lanes.values()], slots.free, worker);
    return {
      deliveries: claimed.map((delivery) => ({
        ...delivery,
        lane: lanes.get(delivery.endpointId) as LockedLane,
      })),
      endpointIds: [...lanes.keys()],
    };
  }

  /** Resolves when the attempt is settled. Attempts that end at about the same time are settled together. */
  settle(attempt: FinishedAttempt): Promise<void> {
    this.recorder.count(attempt);
    return this.settlements.add(attempt);
  }

  /** Finds deliveries that no worker was notified of, and settles attempts of workers that have ended. */
  async resumeStranded(): Promise<void> {
    await this.repository.wakeForgottenLanes();
    // Count interrupted attempts; otherwise an event that crashes its process would be retried forever.
    const { id = null, seesOthers = false, claimIds = [] } = this.worker ?? {};
    const absent = seesOthers ? await this.repository.absentWorkers(id) : [];
    // A worker that lost its connection is back before the second look. One that ended is not.
    const ended = absent.filter((worker) => this.absentWorkers.includes(worker));
    this.absentWorkers = absent;
    const expired = await this.repository.expired(
      ended,
      { worker: id, claimIds: [...claimIds] },
      EXPIRED_PER_RUN,
    );
    await Promise.all(
      expired.map(({ startedMillisecondsAgo, ...delivery }) =>
        this.settle({ delivery, outcome: interruptedAfter(startedMillisecondsAgo) }),
      ),
    );
  }

  /** Settles the attempts, without those whose lease expired. Another process has settled and logged these. */
  private async settleUnexpired(attempts: readonly FinishedAttempt[]): Promise<void> {
    try {
      await this.settleOrThrow(attempts);
    } catch (error) {
      if (!(error instanceof LeasesExpired)) throw error;
      for (const { delivery } of error.attempts) {
        const { id, attempt } = delivery;
        this.logger.warn('The lease of an attempt expired before it was settled', { delivery: id, attempt });
      }
      await this.settleUnexpired(attempts.filter((attempt) => !error.attempts.includes(attempt)));
    }
  }

  /**
   * Changes the request log, deliveries and lanes in one transaction. The lanes come last, so that they are locked for a short
   * time: publishers skip locked lanes.
   *
   * @throws LeasesExpired
   */
  @Transactional()
  private async settleOrThrow(attempts: readonly FinishedAttempt[]): Promise<void> {
    await this.recorder.log(attempts);
    const { ids: settled, hasDueLane } = await this.repository.settle(
      attempts.map((attempt) => this.settlementOf(attempt)),
    );
    const unsettled = attempts.filter(({ delivery }) => !settled.has(delivery.id));
    const expired = unsettled.length === 0 ? unsettled : await this.withExistingEndpoint(unsettled);
    if (expired.length > 0) throw new LeasesExpired(expired);
    if (hasDueLane) this.transaction.afterCommit(() => this.worker?.onLaneDue());
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

  private settlementOf(finished: FinishedAttempt): Settlement {
    const { delivery, outcome } = finished;
    const { id: deliveryId, claimId, endpointId, attempt: attempts } = delivery;
    const allowed = attemptsAllowedAfter(finished);
    const isInterrupted = outcome.reason === 'INTERRUPTED';
    const succeeded = isInterrupted || outcome.fault === 'ours' ? null : outcome.reason === null;
    const { retryDelays } = this.configuration;
    const { total, dns, connect, tls } = outcome.phases;
    // Opening connections takes longer, however busy the receiver is.
    const latency = total - (dns ?? 0) - (connect ?? 0) - (tls ?? 0);
    const settlement = { deliveryId, claimId, endpointId, succeeded, latency, allowed };
    // The first interruption costs an attempt but no time. A delivery that ends its process again and again has to wait.
    if (isInterrupted && attempts === 1 && allowed > 1) return { ...settlement, retryIn: 0 };
    const retryIn = succeeded
      ? undefined
      : delayUntilRetry({ attempts, allowed }, retryDelays, outcome.retryAfterMilliseconds);
    return { ...settlement, retryIn: retryIn ?? null };
  }
}

/**
 * Returns the lanes by endpoint, with their room reduced to what is left for their organizations and for unproven
 * endpoints. Every unproven endpoint gets one slot before any of them gets a second one.
 */
function withinShares(lanes: readonly LockedLane[], slots: AttemptSlots): Map<string, LockedLane> {
  const left = new Map<string | null, number>();
  const kept = new Map<string, LockedLane>();
  let furtherForUnproven = slots.furtherForUnproven;
  for (const lane of lanes) {
    const { endpointId, organizationId, isProven } = lane;
    const available = left.get(organizationId) ?? slots.freeFor(organizationId);
    const first = !isProven && lane.isIdle ? 1 : 0;
    const wanted = isProven ? lane.room : first + Math.min(lane.room - first, furtherForUnproven);
    const room = Math.min(wanted, available);
    left.set(organizationId, available - room);
    if (!isProven && room > 0) furtherForUnproven -= room - first;
    kept.set(endpointId, { ...lane, room });
  }
  return kept;
}

function interruptedAfter(total: number): Outcome {
  const phases = { dns: null, connect: null, tls: null, firstByte: null, total };
  return { statusCode: 0, reason: 'INTERRUPTED', responseBody: null, phases };
}
