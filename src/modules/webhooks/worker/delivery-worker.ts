import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import {
  isDatabaseUnavailable,
  JobFailures,
  Notifications,
  type Subscription,
} from '../../../infrastructure/database/index.js';
import { GaugeMetric, Metrics } from '../../../infrastructure/metrics/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import type { QueuedDelivery } from '../delivery.js';
import { WORKER_LOCK } from '../queue/delivery-queue.repository.js';
import { DeliveryQueueService } from '../queue/delivery-queue.service.js';
import type { LocalWorker } from '../queue/local-worker.js';
import { PublicationsBatch } from '../queue/publications.batch.js';
import { LANES_CHANNEL } from '../queue/sql/lane.js';
import { DeliverySender } from '../sender/delivery-sender.js';
import { WebhookDeliveriesConfiguration } from '../webhook-deliveries.configuration.js';
import { AttemptSlots, type Reservation } from '../queue/attempt-slots.js';

/** Milliseconds. Polling finds retries that become due, and lanes of which `StrandedDeliveriesJob` says that they are due. */
const POLL_INTERVAL = SECOND;
/** Milliseconds between two claims, at least. Larger batches cost less per delivery. */
const CLAIM_INTERVAL = 5;
/** Milliseconds for which a notification is remembered. After that, `StrandedDeliveriesJob` finds the deliveries. */
const NOTIFICATION_LIFETIME = SECOND;
const DRAIN_TIMEOUT = 15 * SECOND;
/** Milliseconds within which all workers notice that their connections are lost, and have connected to the server that is there now. */
const RECONNECTION_TIME = 15 * SECOND;

const IN_FLIGHT = new GaugeMetric({
  name: 'mcs_webhook_attempts_in_flight',
  help: 'Delivery attempts that this process has in flight.',
});
const SLOTS = new GaugeMetric({
  name: 'mcs_webhook_attempt_slots',
  help: 'Delivery attempts that this process can have in flight at the same time.',
});
const LAST_POLL_AGE = new GaugeMetric({
  name: 'mcs_webhook_worker_last_poll_age_seconds',
  help: 'Seconds since this process last polled the queue, or had no free slot and did not need to. A value above a few seconds means that the process cannot read the queue or hangs.',
});

/** The modes of a worker, and those that can follow each. */
const NEXT_MODES = {
  /** Until the application has started. */
  new: ['waiting', 'draining'],
  /** From the start of a claim until its attempts occupy their slots. */
  claiming: ['waiting', 'lastClaim'],
  /** Until something makes another claim worthwhile, and for at least `CLAIM_INTERVAL`. */
  waiting: ['claiming', 'draining'],
  /** Like `claiming`, but the worker is to stop: nothing is claimed afterwards. */
  lastClaim: ['draining'],
  /** Claims nothing. Attempts in flight end. */
  draining: ['stopped'],
  stopped: [],
} as const satisfies Readonly<Record<string, readonly string[]>>;
type Mode = keyof typeof NEXT_MODES;

/** Claims due deliveries and makes their attempts. Any number of processes can do this at the same time. */
@Injectable()
export class DeliveryWorker
  implements LocalWorker, OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown
{
  /** Tells the workers apart. */
  readonly id = randomInt(2 ** 31);
  private readonly logger = new Logger('Webhooks');
  /** By claim. */
  private readonly inFlight = new Map<string, Promise<void>>();
  private readonly slots: AttemptSlots;
  /** Endpoints that have new deliveries, and the `performance.now()` of their notification. */
  private readonly notified = new Map<string, number>();
  /** Aborted when something happens that makes another claim worthwhile. */
  private wakeUp = new AbortController();
  private mode: Mode = 'new';
  /** Whether the log says that deliveries are paused, because the database is unavailable. */
  private isReportedPaused = false;
  /** `performance.now()` when the process last queried the queue successfully, or had no free slot and did not need to. */
  private lastPollAt = performance.now();
  private lastClaimAt = 0;
  private subscription: Subscription | undefined;
  private loop: Promise<void> | undefined;
  runningClaim: Promise<unknown> | undefined;

  @Inject()
  private readonly failures!: JobFailures;

  constructor(
    private readonly queue: DeliveryQueueService,
    private readonly publications: PublicationsBatch,
    private readonly sender: DeliverySender,
    private readonly notifications: Notifications,
    configuration: WebhookDeliveriesConfiguration,
    metrics: Metrics,
  ) {
    this.slots = new AttemptSlots(configuration.concurrency);
    metrics.value(IN_FLIGHT, () => this.inFlight.size);
    metrics.value(SLOTS, () => configuration.concurrency);
    metrics.value(LAST_POLL_AGE, () => (performance.now() - this.lastPollAt) / SECOND);
  }

  onApplicationBootstrap(): void {
    this.enter('waiting');
    this.subscription = this.notifications.listen(
      LANES_CHANNEL,
      (endpointIds) => {
        for (const id of endpointIds?.split(',') ?? []) this.notified.set(id, performance.now());
        this.wakeUp.abort();
      },
      [WORKER_LOCK, this.id],
    );
    this.queue.serve(this);
    this.publications.serve(this);
    this.loop = this.run();
  }

  /** Stops claiming while the HTTP server closes. */
  beforeApplicationShutdown(): void {
    if (this.isStopping) return;
    this.enter(this.mode === 'claiming' ? 'lastClaim' : 'draining');
    this.publications.serve(undefined);
    this.wakeUp.abort();
  }

  /**
   * Waits up to 15 s for attempts in flight, and stays connected meanwhile, so that no other process takes them over. An
   * attempt that takes longer counts as interrupted.
   */
  async onApplicationShutdown(): Promise<void> {
    await this.loop;
    const timeout = new AbortController();
    await Promise.race([
      Promise.all(this.inFlight.values()),
      sleep(DRAIN_TIMEOUT, undefined, { signal: timeout.signal }),
    ]);
    timeout.abort();
    await this.subscription?.close();
    if (this.mode !== 'stopped') this.enter('stopped');
  }

  private get isStopping(): boolean {
    return this.mode === 'lastClaim' || this.mode === 'draining' || this.mode === 'stopped';
  }

  private enter(mode: Mode): void {
    const next: readonly Mode[] = NEXT_MODES[this.mode];
    if (!next.includes(mode)) throw new Error(`A worker cannot change from ${this.mode} to ${mode}`);
    this.mode = mode;
  }

  private async run(): Promise<void> {
    while (!this.isStopping) {
      // Create the controller before claiming, so that a wake-up during the claim is not missed.
      this.wakeUp = new AbortController();
      this.enter('claiming');
      const claim = this.claim();
      this.runningClaim = claim;
      const claimed = await claim;
      this.runningClaim = undefined;
      for (const delivery of claimed ?? []) this.start(delivery);
      this.enter(this.isStopping ? 'draining' : 'waiting');
      // A lane whose notification remains is locked by another process, but only for a moment: retry.
      const retries = claimed !== undefined && this.notified.size > 0 && this.slots.free > 0;
      if (!claimed?.length && !retries) await this.pause();
      await sleep(Math.max(0, this.lastClaimAt + CLAIM_INTERVAL - performance.now()));
    }
  }

  /** @returns undefined if the queue could not be read */
  private async claim(): Promise<readonly QueuedDelivery[] | undefined> {
    const hasRoom = this.slots.free > 0;
    this.lastClaimAt = performance.now();
    try {
      const claimed = hasRoom ? await this.claimFreeSlots() : [];
      this.lastPollAt = performance.now();
      if (hasRoom && this.isReportedPaused) {
        this.logger.log('Deliveries resumed');
        this.isReportedPaused = false;
      }
      return claimed;
    } catch (error) {
      this.reportFailure(error);
      return undefined;
    }
  }

  private async claimFreeSlots(): Promise<readonly QueuedDelivery[]> {
    const oldest = performance.now() - NOTIFICATION_LIFETIME;
    for (const [id, at] of this.notified) if (at < oldest) this.notified.delete(id);
    const notified = new Map(this.notified);
    const { deliveries, endpointIds } = await this.queue.claim(this.claimant, this.slots, [
      ...notified.keys(),
    ]);
    for (const id of endpointIds) {
      // A notification that arrived during the claim is about a delivery that the claim may not have seen.
      if (this.notified.get(id) === notified.get(id)) this.notified.delete(id);
    }
    return deliveries;
  }

  /**
   * Reserves nothing during a claim, which may take all slots that are free when it begins, nor without a claimant: a trigger takes a
   * delivery that is added with a claim, but without a claimant, for a test of release 0.3.0.
   */
  reserve(organizationIds: ReadonlySet<string>): Reservation {
    const isClaiming = this.mode === 'claiming' || this.mode === 'lastClaim';
    return this.slots.reserve(isClaiming || this.claimant === null ? new Set() : organizationIds);
  }

  onLaneDue(): void {
    this.wakeUp.abort();
  }

  get claimIds(): Iterable<string> {
    return this.inFlight.keys();
  }

  get claimant(): number | null {
    return this.subscription?.isPresent ? this.id : null;
  }

  get seesOthers(): boolean {
    return performance.now() - (this.subscription?.lostAt ?? -Infinity) > RECONNECTION_TIME;
  }

  /** Makes the attempt of a delivery that this process has claimed. */
  start(delivery: QueuedDelivery): void {
    const release = this.slots.occupy(delivery.lane);
    const attempt = this.sender
      .send(delivery)
      .then((outcome) => this.queue.settle({ delivery, outcome }))
      .catch((error: unknown) => {
        this.failures.report(this, error);
        this.logger.error('An attempt could not be made or settled; its lease will expire', error);
      })
      .then(() => {
        this.inFlight.delete(delivery.claimId);
        const wasFull = this.slots.isFullFor(delivery.lane);
        release();
        if (wasFull) this.wakeUp.abort();
      });
    this.inFlight.set(delivery.claimId, attempt);
  }

  private async pause(): Promise<void> {
    const { signal } = this.wakeUp;
    await sleep(POLL_INTERVAL, undefined, { signal }).catch(() => undefined);
  }

  /** Logs once why the database is unavailable, not on every iteration. */
  private reportFailure(error: unknown): void {
    const isNew = this.failures.report(this, error);
    if (!isDatabaseUnavailable(error)) {
      this.logger.error('Deliveries could not be claimed', error);
      return;
    }
    if (isNew || !this.isReportedPaused)
      this.logger.warn(`Deliveries are paused: ${(error as Error).message}`);
    this.isReportedPaused = true;
  }
}
