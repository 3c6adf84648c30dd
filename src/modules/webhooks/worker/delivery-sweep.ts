import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { isDatabaseUnavailable } from '../../../infrastructure/database/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import { DeliveryQueueService } from '../queue/delivery-queue.service.js';

/** Finds due deliveries whose publisher could not wake their lane, and attempts whose process died. */
@Injectable()
export class DeliverySweep implements OnApplicationShutdown {
  private readonly logger = new Logger('Webhooks');
  private running: Promise<void> | undefined;

  constructor(private readonly queue: DeliveryQueueService) {}

  /** Does not overlap itself: a run that takes longer than the interval replaces the next one. */
  @Interval(SECOND)
  run(): Promise<void> {
    this.running ??= this.queue
      .sweep()
      .catch((error: unknown) => {
        // The worker reports that the database is unavailable.
        if (!isDatabaseUnavailable(error)) this.logger.error('The delivery queue could not be swept', error);
      })
      .finally(() => (this.running = undefined));
    return this.running;
  }

  /** The scheduler has stopped by now. A run in progress ends before the database connections close. */
  async onApplicationShutdown(): Promise<void> {
    await this.running;
  }
}
