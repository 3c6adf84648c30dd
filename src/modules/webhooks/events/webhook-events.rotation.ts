import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { DatabaseConfiguration, JobLock, PartitionMetrics } from '../../../infrastructure/database/index.js';
import { Clock, hourlyAt } from '../../../infrastructure/time/index.js';
import { RequestLogsConfiguration } from '../../request-logs/index.js';
import { WebhookEventsRepository } from './webhook-events.repository.js';

/** Keeps events as long as the request log, so that every delivery in the log can be repeated. */
@Injectable()
export class WebhookEventsRotation implements OnApplicationBootstrap {
  private readonly logger = new Logger('Webhooks');

  constructor(
    private readonly events: WebhookEventsRepository,
    private readonly lock: JobLock,
    private readonly requestLogs: RequestLogsConfiguration,
    private readonly database: DatabaseConfiguration,
    private readonly clock: Clock,
    partitions: PartitionMetrics,
  ) {
    partitions.watch('webhook_event');
  }

  /** Until today's partition exists, events go to the default partition. */
  async onApplicationBootstrap(): Promise<void> {
    if (!this.database.rotateOnStart) return;
    await this.run().catch((error: unknown) =>
      this.logger.error('The partitions of webhook events could not be created', error),
    );
  }

  @Cron(hourlyAt(20))
  async run(): Promise<void> {
    await this.lock.runExclusively('webhook-events.rotation', () =>
      this.events.rotate(this.clock.now(), this.requestLogs.retentionDays),
    );
  }
}
