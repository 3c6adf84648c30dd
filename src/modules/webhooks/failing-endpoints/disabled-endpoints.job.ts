import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { RecurringJob } from '../../../infrastructure/database/index.js';
import { MINUTE } from '../../../infrastructure/time/index.js';
import { WebhookEndpointsService } from '../../webhook-endpoints/index.js';
import { FailingEndpointsRepository } from './failing-endpoints.repository.js';

/** Drops the deliveries of disabled endpoints, and removes deleted ones whose queue was long. Endpoints take turns, page by page. */
@Injectable()
export class DisabledEndpointsJob extends RecurringJob {
  constructor(
    private readonly repository: FailingEndpointsRepository,
    private readonly endpoints: WebhookEndpointsService,
  ) {
    super('Webhooks', 'Deliveries to disabled endpoints could not be dropped');
  }

  @Interval(MINUTE)
  run(): Promise<void> {
    return this.startExclusively('disabled-endpoints', () => this.emptyAll());
  }

  private async emptyAll(): Promise<void> {
    const failures: unknown[] = [];
    for (let ids = await this.repository.toEmpty(); ids.length > 0 && !this.stopped.aborted;) {
      const left: string[] = [];
      const drop = async (id: string) => (await this.endpoints.dropDeliveries(id)) && left.push(id);
      // An endpoint that fails must not end the turns of the others.
      await this.forEach(ids, drop).catch((error: unknown) => failures.push(error));
      ids = left;
    }
    if (failures.length > 0) throw failures[0];
  }
}
