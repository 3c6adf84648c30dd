import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { isDatabaseUnavailable } from '../../../infrastructure/database/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import { DeliveryQueueService } from '../queue/delivery-queue.service.js';

/**
 * Resumes deliveries that a crashed process left behind: those it committed but had not yet announced to the workers
 * (`wakeLanes`), and those whose attempt it had started but not settled.
 */
@Injectable()
export class StrandedDeliveriesJob implements OnApplicationShutdown {
  private readonly logger = new Logger('Webhooks');
  private running: Promise<void> | undefined;

  constructor(private readonly queue: DeliveryQueueService) {}

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
    await this.running;
  }
}
