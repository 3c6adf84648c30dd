import { Inject, Injectable, Logger } from '@nestjs/common';
import {
  BatchedStatement,
  isLockTimeout,
  isMissingPartition,
  isTransient,
  isTransientFailure,
  JobFailures,
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
} from '../delivery.js';
import { DeliveryQueueRepository } from './delivery-queue.repository.js';
import type { LocalWorker } from './local-worker.js';
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
/** Milliseconds for which a batch waits for lanes: it has attempts of all tenants, and a recovery can lock the lane of one for seconds. */
const LANE_TIMEOUT = 100;
/** Milliseconds between two attempts to settle what waits for locked lanes. */
const LATE_SETTLEMENT_INTERVAL = 250;
const EXPIRED_PER_RUN = 200;

/** Claims due deliveries for one process at a time, and settles their attempts. */
@Injectable()
export class DeliveryQueueService {
  private readonly logger = new Logger('Webhooks');
  private readonly batching = {
    maxRows: ATTEMPTS_PER_SETTLEMENT,
    // A claim is settled once.
    isRepeatable: true,
    retryAfter: (error: unknown): number | undefined => {
      if (isMissingPartition(error) || isTransient(error)) return 0;
      // This includes a log that stays locked.
      if (!isTransientFailure(error) && !isLockTimeout(error)) return undefined;
      if (this.failures.report(this, error))
        this.logger.warn(`Attempts wait to be settled: ${(error as Error).message}`);
      return SETTLEMENT_RETRY_DELAY;
    },
  };
  private readonly settlements = new BatchedStatement<FinishedAttempt, boolean>({
    ...this.batching,
    execute: (attempts) => this.noted(attempts, this.settleSoon(attempts)),
    maxStatements: CONCURRENT_SETTLEMENTS,
    minInterval: SETTLEMENT_INTERVAL,
    enoughRows: ENOUGH_ATTEMPTS,
  });
  /**
   * Settles attempts whose lanes are locked, possibly for hours. Each batch settles those whose lanes are free by then, and leaves the
   * others to the next one.
   */
  private readonly lateSettlements = new BatchedStatement<FinishedAttempt, boolean>({
    ...this.batching,
    execute: (attempts) => this.settleSoon(attempts),
    maxStatements: 1,
    minInterval: LATE_SETTLEMENT_INTERVAL,
  });
  private readonly lockedLanes = new Set<string>();
  /** The claims of attempts that wait for locked lanes. */
  private readonly lateClaims = new Set<string>();
  /** Settlements that run, with the clients of their endpoints. */
  private readonly running = new Map<Promise<unknown>, ReadonlySet<string>>();
  /** Workers that were not connected when `resumeStranded()` last ran. */
  private absentWorkers: readonly number[] = [];
  private worker: LocalWorker | undefined;

  @Inject()
  private readonly failures!: JobFailures;

  constructor(
    private readonly repository: DeliveryQueueRepository,
    private readonly recorder: AttemptRecorder,
    private readonly transaction: Transaction,
    private readonly configuration: WebhookDeliveriesConfiguration,
  ) {}

  /** @param worker the one of this process, if it has one */
  serve(worker: LocalWorker | undefined): void {
    this.worker = worker;
  }

  /**
   * @param worker identifies the process; null while others cannot see that it runs
   * @param notified endpoints that have new deliveries, although their lanes may not say so
   */
  @Transactional()
  async claim(
    worker: number | null,
    slots: AttemptSlots,
    notified: readonly string[],
  ): Promise<ClaimedBatch> {
    const due = await this.repository.lockDueLanes({
      maxUnproven: slots.freeForUnproven,
      fullOrganizations: slots.fullOrganizations,
      notified,
    });
    if (due.length === 0) return { deliveries: [], endpointIds: [] };
    const lanes = withinShares(due, slots);
    // Claiming sets when a lane is due next, also for a lane without room.
    const claimed = await this.repository.claim([...lanes.values()], slots.free, worker);
    if (claimed.hasDropped) this.transaction.afterCommit(() => this.worker?.onLaneDue());
    return {
      deliveries: claimed.deliveries.map((delivery) => ({
        ...delivery,
        lane: lanes.get(delivery.endpointId) as LockedLane,
      })),
      endpointIds: [...lanes.keys()],
    };
  }

  /** Resolves when the attempt is settled. Attempts that end at about the same time are settled together. */
  async settle(attempt: FinishedAttempt): Promise<void> {
    if (!(await this.settleUnlessLocked(attempt))) await this.settleLate(attempt);
  }

  /** @returns false if the lane is locked */
  private async settleUnlessLocked(attempt: FinishedAttempt): Promise<boolean> {
    this.recorder.count(attempt);
    return !this.lockedLanes.has(attempt.delivery.endpointId) && this.settlements.add(attempt);
  }

  private async settleLate(attempt: FinishedAttempt): Promise<void> {
    const { claimId, endpointId } = attempt.delivery;
    this.lockedLanes.add(endpointId);
    this.lateClaims.add(claimId);
    try {
      while (!(await this.lateSettlements.add(attempt)));
    } finally {
      this.lockedLanes.delete(endpointId);
      this.lateClaims.delete(claimId);
    }
  }

  /**
   * Returns the settlement that has locked, or is about to lock, lanes of one of the clients; undefined if none runs, or several: under
   * load, there is always one, and waiting for it does not help.
   */
  runningSettlementOf(clientIds: ReadonlySet<string>): Promise<unknown> | undefined {
    const [only, ...others] = this.running;
    if (!only || others.length > 0) return undefined;
    const [settlement, ofClients] = only;
    return [...ofClients].some((id) => clientIds.has(id)) ? settlement : undefined;
  }

  private async noted(
    attempts: readonly FinishedAttempt[],
    settlement: Promise<readonly boolean[]>,
  ): Promise<readonly boolean[]> {
    this.running.set(settlement, new Set(attempts.map(({ delivery }) => delivery.client.clientId)));
    try {
      return await settlement;
    } finally {
      this.running.delete(settlement);
    }
  }

  /** Finds deliveries that no worker was notified of, and settles attempts of workers that have ended. */
  async resumeStranded(): Promise<void> {
    try {
      await this.repository.bringForward();
      await this.repository.wakeForgottenLanes();
    } finally {
      await this.settleInterrupted();
    }
  }

  /** Counts interrupted attempts; otherwise an event that crashes its process would be retried forever. */
  private async settleInterrupted(): Promise<void> {
    const { id = null, seesOthers = false, claimIds = [] } = this.worker ?? {};
    const absent = seesOthers ? await this.repository.absentWorkers(id) : [];
    // A worker that lost its connection is back before the second look. One that ended is not.
    const ended = absent.filter((worker) => this.absentWorkers.includes(worker));
    this.absentWorkers = absent;
    const own = { worker: id, claimIds: [...claimIds, ...this.lateClaims] };
    const expired = await this.repository.expired(ended, own, EXPIRED_PER_RUN);
    await Promise.all(
      expired.map(async ({ startedMillisecondsAgo, ...delivery }) => {
        const attempt = { delivery, outcome: interruptedAfter(startedMillisecondsAgo) };
        if (await this.settleUnlessLocked(attempt)) return;
        // A lane can stay locked for hours, in which the deliveries of others have to be resumed.
        this.settleLate(attempt).catch((error: unknown) => {
          this.failures.report(this, error);
          this.logger.error('An interrupted attempt could not be settled', error);
        });
      }),
    );
  }

  /** Settles the attempts, without those whose lanes stay locked. @returns whether each has ended */
  private async settleSoon(attempts: readonly FinishedAttempt[]): Promise<readonly boolean[]> {
    try {
      await this.settleNow(attempts, LANE_TIMEOUT);
      return attempts.map(() => true);
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
    }
    const free = await this.settleFree(attempts);
    return attempts.map(({ delivery }) => free.has(delivery.endpointId));
  }

  /** Settles the attempts whose lanes are not locked. @returns the endpoints of these lanes */
  @Transactional()
  private async settleFree(attempts: readonly FinishedAttempt[]): Promise<ReadonlySet<string>> {
    const endpointIds = attempts.map(({ delivery }) => delivery.endpointId);
    const free = await this.repository.lockFreeLanes(endpointIds);
    // A deleted endpoint has no lane.
    const existing = await this.repository.existingEndpoints(endpointIds);
    for (const id of endpointIds) if (!existing.has(id)) free.add(id);
    await this.settleAll(attempts.filter(({ delivery }) => free.has(delivery.endpointId)));
    return free;
  }

  /** Settles the attempts with one statement, which commits by itself, unless the log entries need another one. */
  private settleNow(attempts: readonly FinishedAttempt[], laneTimeout = 0): Promise<void> {
    const settle = this.repository.isLogDistributed ? this.settleTogether : this.settleAll;
    return settle.call(this, attempts, laneTimeout);
  }

  @Transactional()
  private async settleTogether(attempts: readonly FinishedAttempt[], laneTimeout: number): Promise<void> {
    await this.settleAll(attempts, laneTimeout);
  }

  /**
   * Settles the attempts, without those whose lease expired: another process has settled and logged these.
   *
   * @param laneTimeout milliseconds to wait for a lane; 0 for no limit
   */
  private async settleAll(attempts: readonly FinishedAttempt[], laneTimeout = 0): Promise<void> {
    if (attempts.length === 0) return;
    const settlements = attempts.map((attempt) => ({
      ...this.settlementOf(attempt),
      entry: this.recorder.entryOf(attempt),
    }));
    const { ids: ended, hasDueLane } = await this.repository.settle(settlements, laneTimeout);
    if (hasDueLane) this.wakeWorker();
    const others = attempts.filter(({ delivery }) => !ended.has(delivery.id));
    if (others.length === 0) return;
    const existing = await this.repository.existingEndpoints(
      others.map(({ delivery }) => delivery.endpointId),
    );
    for (const { delivery } of others) {
      const { id, attempt, endpointId } = delivery;
      if (existing.has(endpointId))
        this.logger.warn('The lease of an attempt expired before it was settled', { delivery: id, attempt });
    }
    // The endpoints of the others were deleted while the statement waited for their lanes, so nothing has logged the attempts yet.
    await this.settleAll(others.filter(({ delivery }) => !existing.has(delivery.endpointId)));
  }

  /** Lets the worker claim, once the lanes are unlocked. */
  private wakeWorker(): void {
    const wake = (): void => this.worker?.onLaneDue();
    if (this.transaction.isOpen) this.transaction.afterCommit(wake);
    else wake();
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
  const idle = lanes.filter((lane) => !lane.isProven && lane.isIdle).length;
  let furtherForUnproven = Math.min(slots.furtherForUnproven, Math.max(0, slots.freeForUnproven - idle));
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
