import { Injectable } from '@nestjs/common';
import { Cron, CronExpression } from '@nestjs/schedule';
import { Clock } from '../time/index.js';
import { AttemptLimitsRepository } from './attempt-limits.repository.js';

/** Deletes counts that no longer hold anybody up. */
@Injectable()
export class AttemptLimitsCleaning {
  constructor(
    private readonly limits: AttemptLimitsRepository,
    private readonly clock: Clock,
  ) {}

  @Cron(CronExpression.EVERY_HOUR)
  async run(): Promise<void> {
    await this.limits.deleteExpired(this.clock.now());
  }
}
