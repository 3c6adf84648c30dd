import { Injectable } from '@nestjs/common';
import { Cron, CronExpression } from '@nestjs/schedule';
import { Leadership } from '../../../infrastructure/database/index.js';
import { Clock, DAY } from '../../../infrastructure/time/index.js';
import { RevokedAccessTokensRepository } from './revoked-access-tokens.repository.js';

/** Longer than any two clocks differ: nobody takes an expired token for a good one. */
const KEPT_AFTER_EXPIRY = DAY;
const BATCH = 1_000;

/** Forgets revoked tokens some time after they would have ended anyway. */
@Injectable()
export class RevokedAccessTokensCleaning {
  constructor(
    private readonly repository: RevokedAccessTokensRepository,
    private readonly leadership: Leadership,
    private readonly clock: Clock,
  ) {}

  @Cron(CronExpression.EVERY_HOUR)
  async run(): Promise<void> {
    const before = new Date(this.clock.milliseconds() - KEPT_AFTER_EXPIRY);
    await this.leadership.lead('revoked-access-tokens.cleaning', async () => {
      while ((await this.repository.deleteExpired(before, BATCH)) === BATCH);
    });
  }
}
