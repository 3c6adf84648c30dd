import { Injectable } from '@nestjs/common';
import { Cron, CronExpression } from '@nestjs/schedule';
import { Leadership } from '../../infrastructure/database/index.js';
import { Clock, DAY } from '../../infrastructure/time/index.js';
import { SessionsRepository } from './sessions.repository.js';

/** How long an expired session is kept: what happens to its user's cards later still carries its metadata. */
const KEPT_AFTER_EXPIRY = 30 * DAY;
/** Small enough that no other statement waits long for a lock. */
const BATCH = 1_000;

/** Deletes sessions some time after they stopped mattering. */
@Injectable()
export class SessionsCleaning {
  constructor(
    private readonly repository: SessionsRepository,
    private readonly leadership: Leadership,
    private readonly clock: Clock,
  ) {}

  @Cron(CronExpression.EVERY_HOUR)
  async run(): Promise<void> {
    const before = new Date(this.clock.milliseconds() - KEPT_AFTER_EXPIRY);
    await this.leadership.lead('sessions.cleaning', async () => {
      while ((await this.repository.deleteExpired(before, BATCH)) === BATCH);
    });
  }
}
