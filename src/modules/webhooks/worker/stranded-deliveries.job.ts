import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { RecurringJob } from '../../../infrastructure/database/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import { DeliveryQueueService } from '../queue/delivery-queue.service.js';

/** Milliseconds. A worker that lost its connection is back by then. */
const SECOND_LOOK_AFTER = 400;

/** Resumes deliveries that no worker was notified of, and those whose attempt a crashed process had started but not settled. */
@Injectable()
export class StrandedDeliveriesJob extends RecurringJob implements OnApplicationBootstrap {
  private secondLook: NodeJS.Timeout | undefined;

  constructor(private readonly queue: DeliveryQueueService) {
    super('Webhooks', 'Stranded deliveries could not be resumed');
  }

  /**
   * Looks twice, because a worker counts as ended if it is missing in two runs. A restarted process thereby resumes what its
   * predecessor had claimed.
   */
  onApplicationBootstrap(): void {
    void this.run().then(() => {
      this.secondLook = setTimeout(() => void this.run(), SECOND_LOOK_AFTER);
    });
  }

  @Interval(SECOND)
  run(): Promise<void> {
    return this.start(() => this.queue.resumeStranded());
  }

  override async beforeApplicationShutdown(): Promise<void> {
    clearTimeout(this.secondLook);
    await super.beforeApplicationShutdown();
  }
}
