import { Injectable } from '@nestjs/common';
import { Transactional } from '../../../infrastructure/database/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import type { ClaimedDelivery } from './delivery.js';
import { DeliveryQueueRepository, type Settlement } from './delivery-queue.repository.js';
import { WebhookDeliveriesConfiguration } from './webhook-deliveries.configuration.js';

/** Of the slots of a process, retries get at most this share: an hour of failures must not delay what is new. */
const SHARE_OF_RETRIES = 0.5;
/** Failures in a row after which an endpoint gets one probe at a time. */
const FAILURES_UNTIL_NARROW = 5;
const PROBE_EVERY = SECOND;

/** Takes deliveries out of the queue and puts them back, so that of several processes one has each. */
@Injectable()
export class DeliveryQueue {
  constructor(
    private readonly repository: DeliveryQueueRepository,
    private readonly configuration: WebhookDeliveriesConfiguration,
  ) {}

  /** @param slots attempts that the process can begin now */
  @Transactional()
  async claim(slots: number): Promise<ClaimedDelivery[]> {
    const width = this.configuration.endpointConcurrency;
    const lanes = await this.repository.lockDueLanes(width);
    if (lanes.length === 0) return [];
    const retries = Math.ceil(slots * SHARE_OF_RETRIES);
    return this.repository.claim(lanes, { deliveries: slots, retries });
  }

  /** Within the caller's transaction. @returns the ids of the deliveries whose claim still stood */
  async settle(settlements: readonly Settlement[]): Promise<Set<string>> {
    const rules = {
      width: this.configuration.endpointConcurrency,
      failuresUntilNarrow: FAILURES_UNTIL_NARROW,
      probeEvery: PROBE_EVERY,
    };
    return new Set(await this.repository.settle(settlements, rules));
  }
}
