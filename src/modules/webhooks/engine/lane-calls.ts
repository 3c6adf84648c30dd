import { Injectable, Logger } from '@nestjs/common';
import { BatchedStatement } from '../../../infrastructure/database/index.js';
import { DeliveryQueueRepository } from './delivery-queue.repository.js';

const LANES_PER_STATEMENT = 1_000;

/**
 * Calls lanes that have got deliveries, those of many publishers with one statement. Not part of the publishers'
 * transactions: a lane that they had locked would stand still until they end. When a process dies before it has
 * called, the workers find the lane by themselves, within a second or two.
 */
@Injectable()
export class LaneCalls {
  private readonly logger = new Logger('Webhooks');
  private readonly calls = new BatchedStatement<string>({
    execute: (endpointIds) => this.queue.wake([...new Set(endpointIds)]),
    maxRows: LANES_PER_STATEMENT,
    maxStatements: 1,
  });

  constructor(private readonly queue: DeliveryQueueRepository) {}

  /** Nobody waits for it. */
  call(endpointIds: readonly string[]): void {
    for (const id of endpointIds) {
      this.calls.add(id).catch((error: unknown) => this.logger.warn('A lane could not be called', error));
    }
  }
}
