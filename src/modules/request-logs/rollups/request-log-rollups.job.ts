import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { isDatabaseUnavailable, JobLock } from '../../../infrastructure/database/index.js';
import { MINUTE } from '../../../infrastructure/time/index.js';
import { RequestLogRollupsService } from './request-log-rollups.service.js';

/** The name of the job's lock. */
export const REQUEST_LOG_ROLLUPS_JOB = 'request-logs.rollups';

/** Updates the rollups of the request log every minute, in one process at a time. */
@Injectable()
export class RequestLogRollupsJob implements OnApplicationShutdown {
  private readonly logger = new Logger('RequestLogs');
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;

  constructor(
    private readonly rollups: RequestLogRollupsService,
    private readonly lock: JobLock,
  ) {}

  @Interval(MINUTE)
  run(): Promise<void> {
    this.running ??= this.update()
      .catch((error: unknown) => {
        if (!isDatabaseUnavailable(error)) this.logger.error('The rollups could not be updated', error);
      })
      .finally(() => (this.running = undefined));
    return this.running;
  }

  /** Another process continues with the next slice. */
  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private update(): Promise<void> {
    return this.lock.runExclusively(REQUEST_LOG_ROLLUPS_JOB, async () => {
      await this.rollups.update(this.stopping.signal);
      await this.rollups.backfill(this.stopping.signal);
    });
  }
}
