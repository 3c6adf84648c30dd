import { Injectable } from '@nestjs/common';
import { Transaction } from '../../../infrastructure/database/index.js';
import { ENTRY_QUERY_TIMEOUT_MESSAGE, LogReads } from '../../request-logs/index.js';
import { EndpointLanes, type EndpointHealth } from '../../webhook-endpoints/index.js';

/** What changes of an endpoint mean for its lane, and what pages show of it. */
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
              not_before > '-infinity' AS throttled, paused_at IS NOT NULL AS paused
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

  /** An endpoint that has no lane yet gets one. */
  async pause(id: string, now: Date): Promise<boolean> {
    const changed = await this.transaction.manager.query<object[]>(
      `INSERT INTO webhook_lane (endpoint_id, organization_id, paused_at)
       SELECT endpoint.id, organization_id, $2 FROM webhook_endpoint endpoint
         JOIN api_client client ON client.id = client_id
        WHERE endpoint.id = $1
           ON CONFLICT (endpoint_id) DO UPDATE SET paused_at = $2 WHERE webhook_lane.paused_at IS NULL
       RETURNING 1`,
      [id, now],
    );
    return changed.length > 0;
  }

  /** The time until the endpoint is disabled starts again with its next failure. */
  async resume(id: string): Promise<boolean> {
    const changed = await this.transaction.change(
      `UPDATE webhook_lane SET paused_at = NULL, failing_since = NULL
        WHERE endpoint_id = $1 AND paused_at IS NOT NULL`,
      [id],
    );
    return changed > 0;
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
