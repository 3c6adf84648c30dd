import { Injectable } from '@nestjs/common';
import { Transaction } from '../../../infrastructure/database/index.js';
import type { StoredEvent } from '../events/webhook-events.repository.js';
import { IS_SUBSCRIBED } from '../queue/sql/lane.js';

/** A request to send all failed events of an endpoint again. */
export interface Recovery {
  readonly since: Date;
  readonly requestedAt: Date;
  readonly finishedAt: Date | null;
  /** Deliveries queued so far. */
  readonly queued: number;
}

export interface ClaimedRecovery extends Recovery {
  readonly endpointId: string;
  readonly clientId: string;
}

const COLUMNS = `since, requested_at AS "requestedAt", finished_at AS "finishedAt", queued`;
/** A process that runs a recovery renews its lease with each page. */
const LEASE = '2 minutes';
const EVENTS_PER_PAGE = 5_000;

/** The last recovery of each endpoint. */
@Injectable()
export class RecoveriesRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Requests a recovery unless one is running. @returns the one that is running then */
  async request(endpointId: string, since: Date, now: Date): Promise<Recovery | undefined> {
    await this.transaction.manager.query(
      `INSERT INTO webhook_recovery (endpoint_id, since, requested_at)
       SELECT id, $2, $3 FROM webhook_endpoint WHERE id = $1 FOR KEY SHARE
           ON CONFLICT (endpoint_id) DO UPDATE
              SET since = excluded.since, requested_at = excluded.requested_at, finished_at = NULL, queued = 0,
                  lease_until = '-infinity'
            WHERE webhook_recovery.finished_at IS NOT NULL`,
      [endpointId, since, now],
    );
    return this.of(endpointId);
  }

  async of(endpointId: string): Promise<Recovery | undefined> {
    const [recovery] = await this.transaction.manager.query<Recovery[]>(
      `SELECT ${COLUMNS} FROM webhook_recovery WHERE endpoint_id = $1`,
      [endpointId],
    );
    return recovery;
  }

  /** Claims a recovery that no process runs. */
  async claim(): Promise<ClaimedRecovery | undefined> {
    const [recovery] = await this.transaction.manager.query<ClaimedRecovery[]>(
      `WITH claimed AS (
         UPDATE webhook_recovery SET lease_until = now() + interval '${LEASE}'
          WHERE endpoint_id = (SELECT endpoint_id FROM webhook_recovery
                                WHERE finished_at IS NULL AND lease_until < now()
                                ORDER BY requested_at LIMIT 1 FOR UPDATE SKIP LOCKED)
         RETURNING *)
       SELECT endpoint_id AS "endpointId", client_id AS "clientId", ${COLUMNS}
         FROM claimed JOIN webhook_endpoint ON id = endpoint_id`,
    );
    return recovery;
  }

  /** Renews the lease and counts queued deliveries. */
  async progress(endpointId: string, queued: number): Promise<void> {
    await this.transaction.manager.query(
      `UPDATE webhook_recovery SET queued = queued + $2, lease_until = now() + interval '${LEASE}'
        WHERE endpoint_id = $1`,
      [endpointId, queued],
    );
  }

  async finish(endpointId: string, now: Date): Promise<void> {
    await this.transaction.manager.query(
      'UPDATE webhook_recovery SET finished_at = $2 WHERE endpoint_id = $1',
      [endpointId, now],
    );
  }

  /**
   * Returns a page of the events that were not published to the endpoint because it was disabled, after the position,
   * oldest first; empty at the end. They include events that the endpoint has received.
   */
  async missedEvents(endpointId: string, after: StoredEvent): Promise<StoredEvent[]> {
    return this.transaction.manager.query<StoredEvent[]>(
      `SELECT event.id, event.created_at AS "createdAt"
         FROM webhook_endpoint endpoint
        CROSS JOIN LATERAL unnest(missed_periods) period
        CROSS JOIN LATERAL (
                SELECT id, created_at FROM webhook_event event
                 WHERE client_id = endpoint.client_id AND NOT is_test AND ${IS_SUBSCRIBED}
                   AND created_at >= GREATEST(lower(period), endpoint.created_at, $2) AND created_at < upper(period)
                   AND (created_at, id) > ($2, $3)
                 ORDER BY created_at, id
                 LIMIT ${EVENTS_PER_PAGE}) event
        WHERE endpoint.id = $1
        ORDER BY event.created_at, event.id
        LIMIT ${EVENTS_PER_PAGE}`,
      [endpointId, after.createdAt, after.id],
    );
  }
}
