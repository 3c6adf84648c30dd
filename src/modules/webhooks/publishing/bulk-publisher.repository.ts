import { Injectable } from '@nestjs/common';
import { Transaction } from '../../../infrastructure/database/index.js';
import type { NewEvent } from '../events/webhook-events.repository.js';

/** An idempotency key with the event that was published under it. */
export interface EventKey {
  readonly clientId: string;
  readonly key: string;
  readonly eventId: string;
  /** SHA-256 of the content of the request. */
  readonly contentHash: Buffer;
  readonly createdAt: Date;
}

@Injectable()
export class BulkPublisherRepository {
  constructor(private readonly transaction: Transaction) {}

  /**
   * Claims the keys that no event has. Of equal keys, the first one counts. Waits for other transactions that claim the
   * same keys; the order of the rows prevents deadlocks.
   *
   * @returns the keys that earlier events have, or earlier requests of this call. The others are claimed
   */
  async claimKeys(keys: readonly EventKey[]): Promise<EventKey[]> {
    const columns = [
      keys.map(({ clientId }) => clientId),
      keys.map(({ key }) => key),
      keys.map(({ eventId }) => eventId),
      keys.map(({ contentHash }) => contentHash),
      keys.map(({ createdAt }) => createdAt),
    ];
    const claimed = await this.transaction.manager.query<{ eventId: string }[]>(
      `INSERT INTO webhook_event_key (client_id, key, event_id, content_hash, created_at)
       SELECT client_id, key, event_id, content_hash, created_at
         FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::bytea[], $5::timestamptz[]) WITH ORDINALITY
              AS wanted (client_id, key, event_id, content_hash, created_at, position)
        ORDER BY client_id, key, position
           ON CONFLICT DO NOTHING
       RETURNING event_id AS "eventId"`,
      columns,
    );
    if (claimed.length === keys.length) return [];
    // A statement of its own: the snapshot of the first one may be older than the keys that it met.
    return this.transaction.manager.query<EventKey[]>(
      `SELECT client_id AS "clientId", key, event_id AS "eventId", content_hash AS "contentHash",
              created_at AS "createdAt"
         FROM webhook_event_key
        WHERE (client_id, key) IN (SELECT * FROM unnest($1::uuid[], $2::text[]))`,
      [columns[0], columns[1]],
    );
  }

  async addEvents(events: readonly NewEvent[]): Promise<void> {
    await this.transaction.manager.query(
      `INSERT INTO webhook_event (id, created_at, client_id, environment, event, session_id, task_id,
                                  external_user_id, body, is_test)
       SELECT * FROM unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::text[], $5::text[], $6::uuid[],
                            $7::bigint[], $8::text[], $9::bytea[], $10::boolean[])`,
      [
        events.map(({ id }) => id),
        events.map(({ createdAt }) => createdAt),
        events.map(({ clientId }) => clientId),
        events.map(({ environment }) => environment),
        events.map(({ name }) => name),
        events.map(({ sessionId }) => sessionId),
        events.map(({ taskId }) => taskId),
        events.map(({ externalUserId }) => externalUserId),
        events.map(({ body }) => body),
        events.map(({ isTest }) => isTest),
      ],
    );
  }

  /**
   * Adds a delivery of each event to each endpoint of its client, due now. Blocks the deletion of these endpoints until
   * the transaction ends.
   *
   * @returns the endpoints
   */
  async addDeliveries(events: readonly NewEvent[], attemptsAllowed: number): Promise<string[]> {
    const rows = await this.transaction.manager.query<{ endpointId: string }[]>(
      `WITH endpoint AS (
         SELECT id, client_id, url FROM webhook_endpoint WHERE client_id = ANY ($3) ORDER BY id FOR KEY SHARE),
       added AS (
         INSERT INTO webhook_delivery (endpoint_id, event_id, event_created_at, url, attempts_allowed, due_at)
         SELECT endpoint.id, event.id, event.created_at, endpoint.url, $4, now()
           FROM unnest($1::uuid[], $2::timestamptz[], $3::uuid[]) WITH ORDINALITY
                AS event (id, created_at, client_id, position)
           JOIN endpoint USING (client_id)
          ORDER BY position)
       SELECT id AS "endpointId" FROM endpoint`,
      [
        events.map(({ id }) => id),
        events.map(({ createdAt }) => createdAt),
        events.map(({ clientId }) => clientId),
        attemptsAllowed,
      ],
    );
    return rows.map(({ endpointId }) => endpointId);
  }
}
