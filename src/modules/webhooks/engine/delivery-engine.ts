import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import {
  isDatabaseUnavailable,
  Notifications,
  type Subscription,
} from '../../../infrastructure/database/index.js';
import { GaugeMetric, Metrics } from '../../../infrastructure/metrics/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import { Attempts } from './attempts.js';
import type { ClaimedDelivery, Outcome } from './delivery.js';
import { DeliveryQueue } from './delivery-queue.js';
import { DeliveryQueueRepository } from './delivery-queue.repository.js';
import { Signal } from './signal.js';
import { WebhookDeliveriesConfiguration } from './webhook-deliveries.configuration.js';

/** Milliseconds. A notification is a hint; this is the guarantee. */
const POLL_EVERY = SECOND;
const DRAIN_TIMEOUT = 15 * SECOND;
const LAPSED_PER_SWEEP = 200;

const UNDER_WAY = new GaugeMetric({
  name: 'mcs_webhook_attempts_under_way',
  help: 'Attempts that this process has under way.',
});
const SLOTS = new GaugeMetric({
  name: 'mcs_webhook_attempt_slots',
  help: 'Attempts that this process may have under way.',
});
const TURN_AGE = new GaugeMetric({
  name: 'mcs_webhook_engine_turn_age_seconds',
  help: 'Since this process last looked through the queue. More than some seconds: it cannot, or hangs.',
});

/**
 * Works the queue off: claims what is due, has the attempts made, and sweeps up after processes that died.
 * Any number of processes do this side by side.
 */
@Injectable()
export class DeliveryEngine
  implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown
{
  private readonly logger = new Logger('Webhooks');
  private readonly signal = new Signal();
  private readonly stopped = new Signal();
  private readonly underWay = new Set<Promise<void>>();
  private stopping = false;
  /** Whether the database was away at the last turn. */
  private isHeldUp = false;
  /** When the queue was last looked through, or need not be; `performance.now()`. */
  private lastTurn = performance.now();
  private listening: Subscription | undefined;
  private loops: Promise<unknown> | undefined;

  constructor(
    private readonly queue: DeliveryQueue,
    private readonly repository: DeliveryQueueRepository,
    private readonly attempts: Attempts,
    private readonly notifications: Notifications,
    private readonly configuration: WebhookDeliveriesConfiguration,
    metrics: Metrics,
  ) {
    metrics.gauge(UNDER_WAY, () => [{ labels: {}, value: this.underWay.size }]);
    metrics.gauge(SLOTS, () => [{ labels: {}, value: configuration.concurrency }]);
    metrics.gauge(TURN_AGE, () => [{ labels: {}, value: (performance.now() - this.lastTurn) / SECOND }]);
  }

  onApplicationBootstrap(): void {
    this.listening = this.notifications.listen(this.repository.channel, () => this.signal.raise());
    this.loops = Promise.all([this.workOff(), this.sweepUp()]);
  }

  /** Claims nothing more, while the HTTP server closes. */
  beforeApplicationShutdown(): void {
    this.stopping = true;
    this.signal.raise();
    this.stopped.raise();
  }

  /** Attempts under way are finished; the lease of one that is not is left to lapse. */
  async onApplicationShutdown(): Promise<void> {
    await this.listening?.close();
    await this.loops;
    const patience = new Signal();
    void Promise.all(this.underWay).then(() => patience.raise());
    await patience.wait(DRAIN_TIMEOUT);
  }

  private async workOff(): Promise<void> {
    while (!this.stopping) {
      const free = this.configuration.concurrency - this.underWay.size;
      const claimed = await this.claim(free);
      for (const delivery of claimed) this.begin(delivery);
      if (claimed.length === 0) await this.signal.wait(POLL_EVERY);
    }
  }

  private async claim(free: number): Promise<ClaimedDelivery[]> {
    try {
      const claimed = free > 0 ? await this.queue.claim(free) : [];
      this.lastTurn = performance.now();
      if (free > 0) this.goesOn();
      return claimed;
    } catch (error) {
      this.failed('No deliveries could be claimed', error);
      return [];
    }
  }

  private begin(delivery: ClaimedDelivery): void {
    const attempt = this.attempts
      .make(delivery)
      .catch((error: unknown) =>
        this.logger.error('An attempt could not be ended; its lease will lapse', error),
      )
      .then(() => {
        this.underWay.delete(attempt);
        this.signal.raise();
      });
    this.underWay.add(attempt);
  }

  private async sweepUp(): Promise<void> {
    for (;;) {
      await this.stopped.wait(POLL_EVERY);
      if (this.stopping) return;
      try {
        await this.repository.wakeForgotten();
        await this.endLapsed();
      } catch (error) {
        this.failed('The queue could not be swept', error);
      }
    }
  }

  /** An attempt whose process died counts as one, or an event that kills its process would do so for ever. */
  private async endLapsed(): Promise<void> {
    const lapsed = await this.repository.lapsed(LAPSED_PER_SWEEP);
    await Promise.all(
      lapsed.map(({ startedMillisecondsAgo, ...delivery }) =>
        this.attempts.end({ delivery, outcome: interruptedAfter(startedMillisecondsAgo) }),
      ),
    );
    if (lapsed.length > 0) this.signal.raise();
  }

  /** A database that is away is news once, not with every turn. */
  private failed(what: string, error: unknown): void {
    if (!isDatabaseUnavailable(error)) {
      this.logger.error(what, error);
      return;
    }
    if (!this.isHeldUp) this.logger.warn(`Deliveries wait: ${(error as Error).message}`);
    this.isHeldUp = true;
  }

  private goesOn(): void {
    if (this.isHeldUp) this.logger.log('Deliveries go on');
    this.isHeldUp = false;
  }
}

function interruptedAfter(total: number): Outcome {
  const phases = { dns: null, connect: null, tls: null, firstByte: null, total };
  return { statusCode: 0, reason: 'INTERRUPTED', phases };
}
