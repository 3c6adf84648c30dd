import { Injectable } from '@nestjs/common';
import { Cron, CronExpression } from '@nestjs/schedule';
import { Leadership } from '../../infrastructure/database/index.js';
import { Clock, DAY } from '../../infrastructure/time/index.js';
import { McpTokensRepository } from './mcp-tokens.repository.js';

/** How long an expired token is kept, for whoever asks what became of it. */
const KEPT_AFTER_EXPIRY = 7 * DAY;
/** Small enough that no other statement waits long for a lock. */
const BATCH = 1_000;

/** Deletes tokens some time after they stopped mattering. */
@Injectable()
export class McpTokensCleaning {
  constructor(
    private readonly repository: McpTokensRepository,
    private readonly leadership: Leadership,
    private readonly clock: Clock,
  ) {}

  @Cron(CronExpression.EVERY_HOUR)
  async run(): Promise<void> {
    const before = new Date(this.clock.milliseconds() - KEPT_AFTER_EXPIRY);
    await this.leadership.lead('mcp-tokens.cleaning', async () => {
      while ((await this.repository.deleteExpired(before, BATCH)) === BATCH);
    });
  }
}
