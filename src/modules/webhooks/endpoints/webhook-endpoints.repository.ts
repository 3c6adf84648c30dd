import { Injectable } from '@nestjs/common';
import { Transaction, unlessDuplicate } from '../../../infrastructure/database/index.js';
import { WebhookEndpoint } from './webhook-endpoint.entity.js';

/** The part of an endpoint that sending to it requires. */
export type WebhookTarget = Pick<WebhookEndpoint, 'id' | 'url'>;

/** How deliveries to an endpoint went recently. */
export interface EndpointHealth {
  readonly lastSuccessAt: Date | null;
  readonly consecutiveFailures: number;
  /** Whether the lane of the endpoint (the state of its queue) has a reduced width, after 5 consecutive failures. */
  readonly throttled: boolean;
  readonly paused: boolean;
}

const SAME_URL = 'webhook_endpoint_client_url_key';
const CLOCK_TOLERANCE = '1 minute';

@Injectable()
export class WebhookEndpointsRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Returns the endpoints of a client in the order in which they were created. */
  async ofClient(clientId: string): Promise<WebhookEndpoint[]> {
    return this.transaction.manager.find(WebhookEndpoint, {
      where: { clientId },
      order: { createdAt: 'ASC', id: 'ASC' },
    });
  }

  /** Returns the endpoints and blocks concurrent additions until the open transaction ends. */
  async ofClientBlockingAdditions(clientId: string): Promise<WebhookEndpoint[]> {
    await this.transaction.lock(`webhook-endpoints:${clientId}`);
    return this.ofClient(clientId);
  }

  /** Returns the health by endpoint. Endpoints that never had a delivery are missing. */
  async healthOf(endpointIds: readonly string[]): Promise<Map<string, EndpointHealth>> {
    const rows = await this.transaction.manager.query<(EndpointHealth & { readonly id: string })[]>(
      `SELECT endpoint_id AS id, last_success_at AS "lastSuccessAt", consecutive_failures AS "consecutiveFailures",
              not_before > '-infinity' AS throttled, paused_at IS NOT NULL AS paused
         FROM webhook_lane WHERE endpoint_id = ANY ($1)`,
      [endpointIds],
    );
    return new Map(rows.map(({ id, ...health }) => [id, health]));
  }

  /**
   * Pauses deliveries. An endpoint that has no lane yet gets one.
   *
   * @returns whether this changed anything
   */
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

  /**
   * Resumes deliveries. The time until the endpoint is disabled starts again with its next failure.
   *
   * @returns whether this changed anything
   */
  async resume(id: string): Promise<boolean> {
    const changed = await this.transaction.change(
      `UPDATE webhook_lane SET paused_at = NULL, failing_since = NULL
        WHERE endpoint_id = $1 AND paused_at IS NOT NULL`,
      [id],
    );
    return changed > 0;
  }

  /** Forgets what is known about the endpoint's receiver, because it has a new URL: its width, failures and health. */
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

  /**
   * Ends the status `disabled`, and remembers the period for recoveries: extended, because events may be published with
   * another clock, or in a transaction that was open at its beginning or end. The lane stays paused.
   *
   * @returns whether this changed anything
   */
  async endDisabled(id: string, now: Date): Promise<boolean> {
    const changed = await this.transaction.change(
      `UPDATE webhook_endpoint
          SET disabled_at = NULL,
              missed_periods = missed_periods + tstzmultirange(
                tstzrange(disabled_at - interval '${CLOCK_TOLERANCE}', $2::timestamptz + interval '${CLOCK_TOLERANCE}'))
        WHERE id = $1 AND disabled_at IS NOT NULL`,
      [id, now],
    );
    return changed > 0;
  }

  async one(id: string): Promise<WebhookEndpoint | null> {
    return this.transaction.manager.findOneBy(WebhookEndpoint, { id });
  }

  /** Returns the endpoint and locks it, so that concurrent changes run one after the other. */
  async locked(id: string): Promise<WebhookEndpoint | null> {
    return this.transaction.manager.findOne(WebhookEndpoint, {
      where: { id },
      lock: { mode: 'pessimistic_write' },
    });
  }

  /** @returns false if the client already has an endpoint with this URL */
  async add(endpoint: WebhookEndpoint): Promise<boolean> {
    return unlessDuplicate(() => this.transaction.manager.insert(WebhookEndpoint, endpoint), SAME_URL);
  }

  /** @returns false if the client already has an endpoint with this URL */
  async change(id: string, changes: Partial<WebhookEndpoint>): Promise<boolean> {
    return unlessDuplicate(() => this.transaction.manager.update(WebhookEndpoint, { id }, changes), SAME_URL);
  }

  async remove(id: string): Promise<void> {
    await this.transaction.manager.delete(WebhookEndpoint, { id });
  }
}
