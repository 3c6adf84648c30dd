import { Injectable, Logger } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { LoadedConfiguration } from '../../config/index.js';
import { Clock, hourlyAt } from '../../time/index.js';
import { JobLock } from '../advisory-lock.js';
import { expiryRules } from './delete-after.js';
import { ExpiredRowsRepository } from './expired-rows.repository.js';

/** Deletes the expired rows of every table whose entity has a `@DeleteAfter` column. */
@Injectable()
export class ExpiryJob {
  private readonly logger = new Logger('Expiry');

  constructor(
    private readonly repository: ExpiredRowsRepository,
    private readonly lock: JobLock,
    private readonly configuration: LoadedConfiguration,
    private readonly clock: Clock,
  ) {}

  @Cron(hourlyAt(35))
  async run(): Promise<void> {
    await this.lock.runExclusively('expiry', async () => {
      for (const rule of expiryRules().filter((each) => this.repository.has(each))) {
        const before = new Date(this.clock.milliseconds() - rule.keepFor(this.configuration));
        // A failure for one table must not prevent the cleanup of the others.
        await this.repository
          .deleteBefore(rule, before)
          .catch((error: unknown) =>
            this.logger.error(`Expired rows of ${rule.entity.name} were not deleted`, error),
          );
      }
    });
  }
}
