import { Injectable } from '@nestjs/common';
import { Cron, CronExpression } from '@nestjs/schedule';
import { Leadership } from '../../../infrastructure/database/index.js';
import { Clock, DAY } from '../../../infrastructure/time/index.js';
import { DeviceAuthorizationsRepository } from './device-authorizations.repository.js';

/** How long an expired request is kept: a device that was forgotten is told that its code has expired. */
const KEPT_AFTER_EXPIRY = DAY;
const BATCH = 1_000;

/** Deletes requests of devices some time after they stopped mattering. */
@Injectable()
export class DeviceAuthorizationsCleaning {
  constructor(
    private readonly repository: DeviceAuthorizationsRepository,
    private readonly leadership: Leadership,
    private readonly clock: Clock,
  ) {}

  @Cron(CronExpression.EVERY_HOUR)
  async run(): Promise<void> {
    const before = new Date(this.clock.milliseconds() - KEPT_AFTER_EXPIRY);
    await this.leadership.lead('device-authorizations.cleaning', async () => {
      while ((await this.repository.deleteExpired(before, BATCH)) === BATCH);
    });
  }
}
