import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { RecurringJob } from '../../../infrastructure/database/index.js';
import { MINUTE } from '../../../infrastructure/time/index.js';
import { RequestLogRollupsService } from './request-log-rollups.service.js';

/** Updates the rollups every minute, in one process at a time. */
@Injectable()
export class RequestLogRollupsJob extends RecurringJob {
  constructor(private readonly rollups: RequestLogRollupsService) {
    super('RequestLogs', 'The rollups could not be updated');
  }

  @Interval(MINUTE)
  run(): Promise<void> {
    return this.startExclusively('request-logs.rollups', async () => {
      await this.rollups.update(this.stopped);
      await this.rollups.backfill(this.stopped);
    });
  }
}
