import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { isDatabaseUnavailable } from '../../infrastructure/database/index.js';
import { SECOND } from '../../infrastructure/time/index.js';
import { MerchantStatusesService } from './merchant-statuses.service.js';

/** Notifies clients of new statuses of merchants, page by page. */
@Injectable()
export class MerchantStatusesJob implements OnApplicationShutdown {
  private readonly logger = new Logger('MerchantStatuses');
  private running: Promise<void> | undefined;
  private isStopping = false;

  constructor(private readonly statuses: MerchantStatusesService) {}

  @Interval(SECOND)
  run(): Promise<void> {
    this.running ??= this.publishPages()
      .catch((error: unknown) => {
        if (!isDatabaseUnavailable(error))
          this.logger.error('Clients could not be notified of the status of a merchant', error);
      })
      .finally(() => (this.running = undefined));
    return this.running;
  }

  /** Waits for the page in progress. Another process continues with the next page. */
  async onApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.running;
  }

  private async publishPages(): Promise<void> {
    while (!this.isStopping && (await this.statuses.publishPage()));
  }
}
