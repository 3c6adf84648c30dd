import { Injectable } from '@nestjs/common';
import { Cron, CronExpression } from '@nestjs/schedule';
import { Leadership } from '../../infrastructure/database/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { PasswordLinksRepository } from './passwords/password-links.repository.js';
import { DashboardSessionsRepository } from './sessions/dashboard-sessions.repository.js';

/** Small enough that no other statement waits long for a lock. */
const BATCH = 1_000;

/** Deletes logins and links that have expired: nothing asks for them any more. */
@Injectable()
export class DashboardLoginsCleaning {
  constructor(
    private readonly sessions: DashboardSessionsRepository,
    private readonly passwords: PasswordLinksRepository,
    private readonly leadership: Leadership,
    private readonly clock: Clock,
  ) {}

  @Cron(CronExpression.EVERY_HOUR)
  async run(): Promise<void> {
    const now = this.clock.now();
    await this.leadership.lead('dashboard-logins.cleaning', async () => {
      while ((await this.sessions.deleteExpired(now, BATCH)) === BATCH);
      while ((await this.passwords.deleteExpiredLinks(now, BATCH)) === BATCH);
    });
  }
}
