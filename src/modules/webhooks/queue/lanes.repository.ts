import { Injectable } from '@nestjs/common';
import { Transaction } from '../../../infrastructure/database/index.js';
import { ENTRY_QUERY_TIMEOUT_MESSAGE, LogReads } from '../../request-logs/index.js';
import { EndpointLanes, type EndpointHealth } from '../../webhook-endpoints/index.js';
import { IS_ENABLED, ORGANIZATION } from './sql/statement-parts.js';
import { LANE } from './sql/lane.js';

const DELIVERIES_PER_STATEMENT = 10_000;
const LONG_QUEUE = 1_000;

/** Applies changes of an endpoint to its lane, and reads the state of lanes for pages. */
@Injectable()
export class LanesRepository extends EndpointLanes {
  constructor(
    private readonly transaction: Transaction,
    private readonly reads: LogReads,
  ) {
    super();
  }

  async healthOf(endpointIds: readonly string[]): Promise<Map<string, EndpointHealth>> {
    const rows = await this.transaction.manager.query<(EndpointHealth & { readonly id: string })[]>(
      `SELECT endpoint_id AS id, last_success_at AS "lastSuccessAt", consecutive_failures AS "consecutiveFailures",
              not_before > '-infinity' AS throttled, ${LANE.isPaused} AS paused
         FROM webhook_lane WHERE endpoint_id = ANY ($1)`,
      [endpointIds],
    );
    return new Map(rows.map(({ id, ...health }) => [id, health]));
  }

  async waitingFor(endpointId: string, limit: number): Promise<number> {
    const [row] = await this.reads.query<{ readonly count: number }>(
      `SELECT count(*)::integer AS count
         FROM (SELECT FROM webhook_delivery WHERE endpoint_id = $1 LIMIT $2) waiting`,
      [endpointId, limit],
      { timeoutMessage: ENTRY_QUERY_TIMEOUT_MESSAGE },
    );
    return row?.count ?? 0;
  }

  async hasLongQueue(endpointId: string): Promise<boolean> {
    const rows = await this.transaction.manager.query<object[]>(
      'SELECT FROM webhook_delivery WHERE endpoint_id = $1 OFFSET $2 LIMIT 1',
      [endpointId, LONG_QUEUE],
    );
    return rows.length > 0;
  }

  async open(id: string): Promise<void> {
    await this.transaction.manager.query(
      `INSERT INTO webhook_lane (endpoint_id, organization_id) SELECT id, ${ORGANIZATION} FROM webhook_endpoint WHERE id = $1`,
      [id],
    );
  }

  /** An endpoint that has no lane yet gets one. */
  async pause(id: string, now: Date): Promise<boolean> {
    const changed = await this.transaction.manager.query<object[]>(
      `INSERT INTO webhook_lane (endpoint_id, organization_id, paused_at)
       SELECT endpoint.id, organization_id, $2 FROM webhook_endpoint endpoint
         JOIN api_client client ON client.id = client_id
        WHERE endpoint.id = $1
           ON CONFLICT (endpoint_id) DO UPDATE SET paused_at = $2 WHERE NOT (webhook_lane.paused_at < 'infinity') IS TRUE
       RETURNING 1`,
      [id, now],
    );
    return changed.length > 0;
  }

  /** The time until the endpoint is disabled starts again with its next failure. */
  async resume(id: string): Promise<boolean> {
    const changed = await this.transaction.change(
      `UPDATE webhook_lane SET paused_at = CASE WHEN is_reserved THEN 'infinity'::timestamptz END, failing_since = NULL
        WHERE endpoint_id = $1 AND ${LANE.isPaused}`,
      [id],
    );
    return changed > 0;
  }

  async reserve(id: string): Promise<void> {
    await this.transaction.manager.query(
      `INSERT INTO webhook_lane (endpoint_id, organization_id, is_reserved, paused_at)
       SELECT id, ${ORGANIZATION}, true, 'infinity' FROM webhook_endpoint WHERE id = $1
           ON CONFLICT (endpoint_id) DO UPDATE
          SET is_reserved = true, paused_at = COALESCE(webhook_lane.paused_at, 'infinity')`,
      [id],
    );
  }

  async noteNotified(id: string, now: Date): Promise<void> {
    await this.transaction.manager.query('UPDATE webhook_lane SET notified_at = $2 WHERE endpoint_id = $1', [
      id,
      now,
    ]);
  }

  async dropDeliveries(id: string): Promise<{ readonly oldest: Date | null; readonly hasMore: boolean }> {
    const [dropped] = await this.transaction.manager.query<
      [{ readonly oldest: Date | null; hasMore: boolean }]
    >(
      `WITH endpoint AS MATERIALIZED (
              SELECT id FROM webhook_endpoint endpoint WHERE id = $1 AND NOT (${IS_ENABLED}) FOR NO KEY UPDATE),
            dropped AS (
              DELETE FROM webhook_delivery
               WHERE id = ANY (ARRAY(SELECT delivery.id
                                       FROM webhook_delivery delivery JOIN endpoint ON endpoint.id = delivery.endpoint_id
                                      WHERE claim_id IS NULL
                                      LIMIT ${DELIVERIES_PER_STATEMENT}
                                        FOR UPDATE OF delivery SKIP LOCKED))
              RETURNING event_created_at)
       SELECT min(event_created_at) AS oldest, count(*) = ${DELIVERIES_PER_STATEMENT} AS "hasMore" FROM dropped`,
      [id],
    );
    return dropped;
  }

  async forgetReceiver(id: string): Promise<void> {
    await this.transaction.manager.query(
      `UPDATE webhook_lane
          SET adaptive_width = NULL, width_ceiling = NULL, baseline_ms = NULL, usual_failures = 0,
              allowed_failures = 0, consecutive_failures = 0, failing_since = NULL, last_success_at = NULL, last_failure_at = NULL,
              not_before = '-infinity'
        WHERE endpoint_id = $1`,
      [id],
    );
  }
}
