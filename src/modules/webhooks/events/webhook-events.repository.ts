import { Injectable } from '@nestjs/common';
import { PartitionRotation, Transaction } from '../../../infrastructure/database/index.js';
import {
  HoldsUserData,
  type ErasedUser,
  type UserDataHolder,
} from '../../../infrastructure/erasure/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { DAY } from '../../../infrastructure/time/index.js';
import { RequestLogsConfiguration, type EventBodies } from '../../request-logs/index.js';
import type { EventToDeliver } from '../queue/delivery.js';

export interface NewEvent extends EventToDeliver {
  readonly clientId: string;
  readonly environment: PlatformEnvironment;
  readonly createdAt: Date;
  /** When the event happened: its `timestamp`. */
  readonly occurredAt: Date;
  readonly merchantId: number | null;
  /** Sent to test an endpoint. Recovery skips it. */
  readonly isTest: boolean;
}

/** Identifies an event and its partition. */
export type EventPosition = Pick<NewEvent, 'id' | 'createdAt'>;

const EVENTS_PER_ERASURE = 500;

/** SQL for the body of an event whose user was erased. Such an event is never sent again. */
const ERASED_BODY = `'{"erased":true}'::bytea`;
/** SQL for whether the user of an `event` was not erased. */
export const HAS_BODY = `event.body <> ${ERASED_BODY}`;

/** Published events, which never change unless their user is erased. */
@HoldsUserData('records')
@Injectable()
export class WebhookEventsRepository implements EventBodies, UserDataHolder {
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

  /** Returns an event of the client; undefined if it does not exist, or no longer exists. */
  async find(clientId: string, id: string): Promise<Pick<NewEvent, 'name' | 'isTest' | 'body'> | undefined> {
    const [event] = await this.transaction.manager.query<Pick<NewEvent, 'name' | 'isTest' | 'body'>[]>(
      'SELECT event AS name, is_test AS "isTest", body FROM webhook_event WHERE id = $1 AND client_id = $2',
      [id, clientId],
    );
    return event;
  }

  async bodyOf(clientId: string, id: string): Promise<Buffer | undefined> {
    return (await this.find(clientId, id))?.body;
  }

  /**
   * Empties events of the user, and deletes their idempotency keys and deliveries. An attempt in progress ends, but is not settled
   * and not logged.
   */
  async eraseBatch({ clientId, externalUserId, pseudonym }: ErasedUser): Promise<number> {
    const [{ erased }] = await this.transaction.manager.query<[{ erased: number }]>(
      `WITH event AS MATERIALIZED (
              SELECT id, created_at FROM webhook_event WHERE client_id = $1 AND external_user_id = $2 LIMIT $4),
            erased AS (
              UPDATE webhook_event SET external_user_id = $3, body = ${ERASED_BODY}
               WHERE id = ANY (ARRAY(SELECT id FROM event)) AND created_at = ANY (ARRAY(SELECT created_at FROM event))
              RETURNING 1),
            key AS (
              DELETE FROM webhook_event_key
               WHERE client_id = $1 AND created_at = ANY (ARRAY(SELECT created_at FROM event))
                 AND event_id = ANY (ARRAY(SELECT id FROM event))),
            ${deletedDeliveries(`endpoint_id = ANY (ARRAY(SELECT id FROM webhook_endpoint WHERE client_id = $1))
                 AND event_id IN (SELECT id FROM event)`)}
       SELECT count(*)::integer AS erased FROM erased`,
      [clientId, externalUserId, pseudonym, EVENTS_PER_ERASURE],
    );
    return erased;
  }

  private async deleteDependents(oldestKept: Date): Promise<void> {
    await this.transaction.manager.query(
      'DELETE FROM webhook_delivery WHERE event_created_at < $1 AND claim_id IS NULL',
      [oldestKept],
    );
    // An expired claim is resumed within seconds, unless no process was running until its event was dropped. Only these lock their lanes.
    await this.transaction.manager.query(
      `WITH ${deletedDeliveries(`event_created_at < $1 AND lease_until < now() - interval '1 hour'`)}
       SELECT`,
      [oldestKept],
    );
    const keys = { table: 'webhook_event_key', key: 'client_id, key', column: 'created_at' };
    await this.transaction.deleteBefore(new Date(oldestKept.getTime() - DAY), keys);
  }
}

/** Returns parts of a statement that delete deliveries, and free the lanes of their attempts. A lane is locked before its deliveries, as everywhere. */
function deletedDeliveries(condition: string): string {
  return `waiting AS MATERIALIZED (SELECT id, endpoint_id FROM webhook_delivery WHERE ${condition}),
            lane AS MATERIALIZED (
              SELECT endpoint_id FROM webhook_lane
               WHERE endpoint_id IN (SELECT endpoint_id FROM waiting) ORDER BY endpoint_id FOR UPDATE),
            deleted AS (
              DELETE FROM webhook_delivery
               WHERE id IN (SELECT id FROM waiting) AND (SELECT count(*) FROM lane) >= 0
              RETURNING endpoint_id, claim_id),
            freed AS (
              UPDATE webhook_lane SET in_flight = in_flight - attempts
                FROM (SELECT endpoint_id, count(claim_id)::integer AS attempts FROM deleted GROUP BY 1) ended
               WHERE webhook_lane.endpoint_id = ended.endpoint_id)`;
}
