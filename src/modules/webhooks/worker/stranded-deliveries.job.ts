import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { isDatabaseUnavailable } from '../../../infrastructure/database/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import { DeliveryQueueService } from '../queue/delivery-queue.service.js';

/** Milliseconds. A worker that lost its connection is back by then. */
const SECOND_LOOK_AFTER = 400;

/**
 * Resumes deliveries that no worker was notified of, and those whose attempt a crashed process had started but not
 * settled.
 */
@Injectable()
export class StrandedDeliveriesJob implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Webhooks');
  private running: Promise<void> | undefined;
  private secondLook: NodeJS.Timeout | undefined;

  constructor(private readonly queue: DeliveryQueueService) {}

  /**
   * Looks twice, because a worker counts as ended if it is missing in two runs. A restarted process thereby resumes what its
   * predecessor had claimed.
   */
  onApplicationBootstrap(): void {
    void this.run().then(() => {
      this.secondLook = setTimeout(() => void this.run(), SECOND_LOOK_AFTER);
    });
  }

  /** Runs never overlap: if one takes longer than the interval, the next run is skipped. */
  @Interval(SECOND)
  run(): Promise<void> {
    this.running ??= this.queue
      .resumeStranded()
      .catch((error: unknown) => {
        // The worker reports that the database is unavailable.
        if (!isDatabaseUnavailable(error))
          this.logger.error('Stranded deliveries could not be resumed', error);
      })
      .finally(() => (this.running = undefined));
    return this.running;
  }

  /** The scheduler has stopped by now. A run in progress ends before the database connections close. */
  async onApplicationShutdown(): Promise<void> {
    clearTimeout(this.secondLook);
    await this.running;
  }
}
