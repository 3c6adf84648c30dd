import { Injectable, Logger } from '@nestjs/common';
import { PartitionRotation, Transaction } from '../../../infrastructure/database/index.js';
import {
  HoldsUserData,
  type ErasedUser,
  type UserDataHolder,
} from '../../../infrastructure/erasure/index.js';
import { DAY } from '../../../infrastructure/time/index.js';
import { RequestLogsConfiguration, type EventBodies } from '../../request-logs/index.js';
import { ERASED_BODY, type EventPosition, type NewEvent } from '../webhook-event.js';

const EVENTS_PER_ERASURE = 500;
const DELIVERIES_PER_ERASURE = 10_000;
const DELIVERIES_PER_PAGE = 10_000;
const DELIVERIES_PER_DELETION = 1_000;

/** Published events, which never change unless their user is erased. */
@HoldsUserData('records')
@Injectable()
export class WebhookEventsRepository implements EventBodies, UserDataHolder {
  private readonly logger = new Logger('Webhooks');

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
      deleteDependents: (now, stopped) =>
        this.deleteDependents(new Date(now.getTime() - retentionDays * DAY), stopped),
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
   * Empties events of the user, which are no longer sent from then on, and deletes their idempotency keys and then, all together, their
   * deliveries: nothing but a search of the client's queue finds these. An attempt in progress ends, but is not settled and not logged.
   */
  async eraseBatch(user: ErasedUser): Promise<number> {
    // In separate transactions: deleting waits for lanes, and streams of events wait for all who have changed an event.
    return (await this.eraseEvents(user)) || this.eraseDeliveries(user);
  }

  private async eraseEvents({ clientId, externalUserId, pseudonym }: ErasedUser): Promise<number> {
    const { manager } = this.transaction;
    const events = await manager.query<EventPosition[]>(
      'SELECT id, created_at AS "createdAt" FROM webhook_event WHERE client_id = $1 AND external_user_id = $2 LIMIT $3',
      [clientId, externalUserId, EVENTS_PER_ERASURE],
    );
    if (events.length === 0) return 0;
    const ids = events.map(({ id }) => id);
    // Publications lock keys in the same order.
    const [{ erased }] = await manager.query<[{ erased: number }]>(
      `WITH erased AS (
              UPDATE webhook_event SET external_user_id = $4, body = ${ERASED_BODY}
               WHERE client_id = $1 AND id = ANY ($2) AND created_at = ANY ($3)
              RETURNING 1),
            key AS MATERIALIZED (
              SELECT client_id, key FROM webhook_event_key
               WHERE client_id = $1 AND created_at = ANY ($3) AND event_id = ANY ($2) ORDER BY client_id, key FOR UPDATE),
            deleted AS (
              DELETE FROM webhook_event_key
               WHERE client_id = $1 AND key = ANY (ARRAY(SELECT key FROM key)) AND event_id = ANY ($2))
       SELECT count(*)::integer AS erased FROM erased`,
      [clientId, ids, events.map(({ createdAt }) => createdAt), pseudonym],
    );
    return erased;
  }

  /** Deletes deliveries of events that were erased. */
  private async eraseDeliveries({ clientId, pseudonym }: ErasedUser): Promise<number> {
    // Each event of the user and each delivery of the client is read once, however many there are: a nested loop would read the queue
    // once for each event.
    const found = await this.transaction.readUntimed<{ id: string }>(
      `SELECT delivery.id
         FROM webhook_delivery delivery
         JOIN webhook_event event ON event.id = event_id AND event.created_at = event_created_at
        WHERE endpoint_id = ANY (ARRAY(SELECT id FROM webhook_endpoint WHERE client_id = $1))
          AND event.client_id = $1 AND event.external_user_id = $2
        LIMIT ${DELIVERIES_PER_ERASURE}`,
      [clientId, pseudonym],
      'SET LOCAL enable_nestloop = off',
    );
    if (found.length === 0) return 0;
    const ids = found.map(({ id }) => id);
    // In one statement, which locks all lanes in their order: those who settle attempts do the same.
    return this.deleteDeliveries('id = ANY ($1)', [ids], DELIVERIES_PER_ERASURE);
  }

  /** Deletes some rows at a time, and leaves those that are locked to the next run: a worker claims them at this moment. */
  private async deleteDependents(oldestKept: Date, stopped: AbortSignal): Promise<void> {
    for (let last: string | null = '0'; last !== null; last = await this.deleteUnclaimed(oldestKept, last))
      stopped.throwIfAborted();
    // An expired claim is resumed within seconds, unless no process was running until its event was dropped. Only these lock their lanes.
    const expired = "event_created_at < $1 AND lease_until < now() - interval '1 hour'";
    while ((await this.deleteDeliveries(expired, [oldestKept])) === DELIVERIES_PER_DELETION)
      stopped.throwIfAborted();
    await this.recountAttempts();
    const keys = { table: 'webhook_event_key', key: 'client_id, key', column: 'created_at', stopped };
    await this.transaction.deleteBefore(new Date(oldestKept.getTime() - DAY), keys);
  }

  /**
   * Frees places in lanes whose delivery no longer exists. Up to release 0.4.0, a claim left such a place if its delivery was deleted at
   * that moment. Within a snapshot, each attempt in flight has its place, so that the rest never becomes free otherwise. Lanes that are
   * locked wait for the next run.
   */
  private async recountAttempts(): Promise<void> {
    const [{ places, lanes }] = await this.transaction.manager.query<[{ places: number; lanes: number }]>(
      `WITH counted AS MATERIALIZED (
              SELECT endpoint_id, in_flight - COALESCE(attempts, 0) AS unused
                FROM webhook_lane lane
                LEFT JOIN (SELECT endpoint_id, count(*)::integer AS attempts
                             FROM webhook_delivery WHERE lease_until IS NOT NULL GROUP BY 1) claimed USING (endpoint_id)
               WHERE in_flight > COALESCE(attempts, 0)),
            lane AS MATERIALIZED (
              SELECT endpoint_id FROM webhook_lane
               WHERE endpoint_id IN (SELECT endpoint_id FROM counted) ORDER BY endpoint_id FOR UPDATE SKIP LOCKED),
            freed AS (
              UPDATE webhook_lane SET in_flight = in_flight - unused
                FROM counted JOIN lane USING (endpoint_id)
               WHERE webhook_lane.endpoint_id = lane.endpoint_id
              RETURNING unused)
       SELECT COALESCE(sum(unused), 0)::integer AS places, count(*)::integer AS lanes FROM freed`,
    );
    if (places > 0)
      this.logger.warn(`${places} places of attempts that do not exist were freed in ${lanes} lanes`);
  }

  /** @returns the last of the deliveries after `after` that it has read; null if there are none */
  private async deleteUnclaimed(oldestKept: Date, after: string): Promise<string | null> {
    const [{ last }] = await this.transaction.manager.query<[{ last: string | null }]>(
      `WITH page AS MATERIALIZED (
              SELECT id FROM webhook_delivery WHERE id > $2 ORDER BY id LIMIT ${DELIVERIES_PER_PAGE}),
            old AS MATERIALIZED (
              SELECT id FROM webhook_delivery
               WHERE id IN (SELECT id FROM page) AND event_created_at < $1 AND claim_id IS NULL
                 FOR UPDATE SKIP LOCKED),
            deleted AS (DELETE FROM webhook_delivery WHERE id IN (SELECT id FROM old))
       SELECT max(id) AS last FROM page`,
      [oldestKept, after],
    );
    return last;
  }

  /** Deletes some deliveries, and frees the lanes of their attempts. A lane is locked before its deliveries, as everywhere. @returns how many */
  private async deleteDeliveries(
    condition: string,
    values: readonly unknown[],
    limit = DELIVERIES_PER_DELETION,
  ): Promise<number> {
    const [{ deleted }] = await this.transaction.manager.query<[{ deleted: number }]>(
      `WITH waiting AS MATERIALIZED (
              SELECT id, endpoint_id FROM webhook_delivery WHERE ${condition} LIMIT ${limit}),
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
               WHERE webhook_lane.endpoint_id = ended.endpoint_id)
       SELECT count(*)::integer AS deleted FROM deleted`,
      [...values],
    );
    return deleted;
  }
}
