import { Injectable } from '@nestjs/common';
import { PartitionRotation, Transaction } from '../../../infrastructure/database/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { DAY } from '../../../infrastructure/time/index.js';
import { RequestLogsConfiguration, type EventBodies } from '../../request-logs/index.js';
import type { DeliveredEvent } from '../queue/delivery.js';

export interface NewEvent extends DeliveredEvent {
  readonly clientId: string;
  readonly environment: PlatformEnvironment;
  readonly createdAt: Date;
  readonly merchantId: number | null;
  /** Sent to test an endpoint. Recovery skips it. */
  readonly isTest: boolean;
}

/** Identifies an event and its partition. */
export type StoredEvent = Pick<NewEvent, 'id' | 'createdAt'>;

/** Small enough that no other statement waits long for a lock. */
const KEYS_PER_STATEMENT = 1_000;

/** Published events, which never change. */
@Injectable()
export class WebhookEventsRepository implements EventBodies {
  constructor(
    private readonly transaction: Transaction,
    rotation: PartitionRotation,
    { retentionDays }: RequestLogsConfiguration,
  ) {
    // Events are kept as long as the request log, so that every delivery in the log can be repeated, and a day longer: an attempt
    // in flight needs its event until it is settled; otherwise its slot in the lane would never become free.
    rotation.add({
      name: 'webhook_event',
      retention: { days: retentionDays + 1 },
      lock: 'webhook-events.rotation',
      deleteDependents: (now) => this.deleteDependents(new Date(now.getTime() - retentionDays * DAY)),
    });
  }

  /** Stores an event that tests an endpoint. */
  async addTest(event: Omit<NewEvent, 'isTest'>): Promise<void> {
    const { id, createdAt, clientId, environment, name, sessionId, taskId, externalUserId, body } = event;
    await this.transaction.manager.query(
      `INSERT INTO webhook_event (id, created_at, client_id, environment, event, session_id, task_id,
                                  external_user_id, body, is_test)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, true)`,
      [id, createdAt, clientId, environment, name, sessionId, taskId, externalUserId, body],
    );
  }

  /** Returns a new task ID: unique, with gaps. */
  async nextTaskId(): Promise<number> {
    const [row] = await this.transaction.manager.query<[{ id: string }]>(
      "SELECT nextval('task_id_seq') AS id",
    );
    return Number(row.id);
  }

  async one(clientId: string, id: string): Promise<Pick<NewEvent, 'name' | 'isTest'> | undefined> {
    const [event] = await this.transaction.manager.query<Pick<NewEvent, 'name' | 'isTest'>[]>(
      'SELECT event AS name, is_test AS "isTest" FROM webhook_event WHERE id = $1 AND client_id = $2',
      [id, clientId],
    );
    return event;
  }

  /** Returns the body of an event of the client, or undefined if the event does not exist or no longer exists. */
  async bodyOf(clientId: string, id: string): Promise<Buffer | undefined> {
    const [event] = await this.transaction.manager.query<Pick<NewEvent, 'body'>[]>(
      'SELECT body FROM webhook_event WHERE id = $1 AND client_id = $2',
      [id, clientId],
    );
    return event?.body;
  }

  private async deleteDependents(oldestKept: Date): Promise<void> {
    await this.transaction.manager.query(
      'DELETE FROM webhook_delivery WHERE event_created_at < $1 AND claim_id IS NULL',
      [oldestKept],
    );
    await this.deleteKeysBefore(new Date(oldestKept.getTime() - DAY));
  }

  /** Deletes idempotency keys, a batch at a time. */
  private async deleteKeysBefore(time: Date): Promise<void> {
    let deleted: number;
    do {
      deleted = await this.transaction.change(
        `DELETE FROM webhook_event_key WHERE (client_id, key) IN (
           SELECT client_id, key FROM webhook_event_key WHERE created_at < $1 ORDER BY created_at LIMIT $2)`,
        [time, KEYS_PER_STATEMENT],
      );
    } while (deleted === KEYS_PER_STATEMENT);
  }
}
