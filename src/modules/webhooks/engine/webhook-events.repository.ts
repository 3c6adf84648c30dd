import { Injectable } from '@nestjs/common';
import { DailyPartitions, Transaction } from '../../../infrastructure/database/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import type { DeliveredEvent } from './delivery.js';
import { DAY } from '../../../infrastructure/time/index.js';

export interface NewEvent extends DeliveredEvent {
  readonly clientId: string;
  readonly environment: PlatformEnvironment;
  readonly createdAt: Date;
  /** Sent to try an endpoint out: it is not missed when it fails. */
  readonly isTest: boolean;
}

/** An event as others refer to it. */
export interface StoredEvent {
  readonly id: string;
  readonly createdAt: Date;
}

/** What happened, once for all deliveries: it never changes. */
@Injectable()
export class WebhookEventsRepository {
  constructor(
    private readonly transaction: Transaction,
    private readonly partitions: DailyPartitions,
  ) {}

  async add(event: NewEvent): Promise<void> {
    await this.transaction.manager.query(
      `INSERT INTO webhook_event (id, created_at, client_id, environment, event, session_id, task_id,
                                  external_user_id, body, is_test)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      [
        event.id,
        event.createdAt,
        event.clientId,
        event.environment,
        event.name,
        event.sessionId,
        event.taskId,
        event.externalUserId,
        event.body,
        event.isTest,
      ],
    );
  }

  async one(clientId: string, id: string): Promise<StoredEvent | undefined> {
    const [event] = await this.transaction.manager.query<StoredEvent[]>(
      'SELECT id, created_at AS "createdAt" FROM webhook_event WHERE id = $1 AND client_id = $2',
      [id, clientId],
    );
    return event;
  }

  /**
   * Deliveries that never got their turn end with the retention of their events, which are kept a day longer: an
   * attempt that is under way needs its event until it is settled, or its place in the lane would stay taken.
   */
  async rotate(now: Date, retentionDays: number): Promise<void> {
    const oldestKept = new Date(now.getTime() - retentionDays * DAY);
    await this.transaction.manager.query(
      'DELETE FROM webhook_delivery WHERE event_created_at < $1 AND claim_id IS NULL',
      [oldestKept],
    );
    await this.partitions.rotate('webhook_event', now, retentionDays + 1);
  }
}
