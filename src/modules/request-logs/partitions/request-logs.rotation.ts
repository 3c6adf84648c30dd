import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { DatabaseConfiguration, JobLock } from '../../../infrastructure/database/index.js';
import { Clock, DAY, hourlyAt } from '../../../infrastructure/time/index.js';
import { RequestLogsConfiguration } from '../request-logs.configuration.js';
import { countMisplaced } from './request-log-partitions.js';
import { RequestLogStore } from '../storage/request-log-store.js';

/** The name of the job's lock. */
export const REQUEST_LOG_ROTATION_JOB = 'request-logs.rotation';

/** Creates partitions in advance and drops those past retention, in one process at a time. */
@Injectable()
export class RequestLogsRotation implements OnApplicationBootstrap {
  private readonly logger = new Logger('RequestLogs');

  constructor(
    private readonly store: RequestLogStore,
    private readonly lock: JobLock,
    private readonly configuration: RequestLogsConfiguration,
    private readonly database: DatabaseConfiguration,
    private readonly clock: Clock,
  ) {}

  /** Creates today's partition in a new installation; otherwise entries would go to the default partition. */
  async onApplicationBootstrap(): Promise<void> {
    if (!this.database.rotateOnStart) return;
    await this.run().catch((error: unknown) =>
      this.logger.error('The partitions could not be created', error),
    );
  }

  /** Stores old days in columns. A large day takes minutes; partitions exist for longer ahead. */
  @Cron(hourlyAt(25))
  async compress(): Promise<void> {
    const { columnarAfterDays } = this.configuration;
    if (columnarAfterDays === undefined) return;
    await this.lock.runExclusively(REQUEST_LOG_ROTATION_JOB, async () => {
      const before = new Date(this.clock.milliseconds() - columnarAfterDays * DAY);
      if (!(await this.store.compress(before))) {
        this.logger.warn(
          'REQUEST_LOG_COLUMNAR_AFTER_DAYS has no effect, because the database lacks the extension citus_columnar',
        );
      }
    });
  }

  @Cron(hourlyAt(5))
  async run(): Promise<void> {
    await this.lock.runExclusively(REQUEST_LOG_ROTATION_JOB, async () => {
      await this.store.rotate(this.clock.now(), this.configuration.retentionDays);
      await this.warnOfMisplacedEntries();
    });
  }

  private async warnOfMisplacedEntries(): Promise<void> {
    const entries = countMisplaced(await this.store.partitions());
    if (entries > 0) {
      this.logger.warn('The default partition contains entries for days that have no partition', {
        entries,
      });
    }
  }
}
