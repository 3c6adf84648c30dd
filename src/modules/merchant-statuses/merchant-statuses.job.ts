import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { RecurringJob } from '../../infrastructure/database/index.js';
import { SECOND } from '../../infrastructure/time/index.js';
import { MerchantStatusesService } from './merchant-statuses.service.js';

/** Notifies clients of new statuses of merchants, page by page. */
@Injectable()
export class MerchantStatusesJob extends RecurringJob {
  constructor(private readonly statuses: MerchantStatusesService) {
    super('MerchantStatuses', 'Clients could not be notified of the status of a merchant');
  }

  @Interval(SECOND)
  run(): Promise<void> {
    return this.start(async () => {
      await this.forEach(await this.statuses.pending(), async (status) => {
        while (!this.stopped.aborted && (await this.statuses.publishPage(status)));
      });
    });
  }
}
