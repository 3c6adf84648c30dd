import { Injectable } from '@nestjs/common';
import { Cron, CronExpression } from '@nestjs/schedule';
import { Leadership } from '../../infrastructure/database/index.js';
import { Clock, DAY } from '../../infrastructure/time/index.js';
import { CareersConfiguration } from './careers.configuration.js';
import { JobApplicationsRepository } from './job-applications.repository.js';

/** Deletes applications whose time is over. */
@Injectable()
export class CareersRetention {
  constructor(
    private readonly repository: JobApplicationsRepository,
    private readonly leadership: Leadership,
    private readonly configuration: CareersConfiguration,
    private readonly clock: Clock,
  ) {}

  @Cron(CronExpression.EVERY_HOUR)
  async run(): Promise<void> {
    const before = new Date(this.clock.milliseconds() - this.configuration.retentionDays * DAY);
    await this.leadership.lead('careers.retention', async () => {
      await this.repository.deleteReceivedBefore(before);
    });
  }
}
