import { Injectable } from '@nestjs/common';
import { Transaction, unlessDuplicate } from '../../infrastructure/database/index.js';
import { WebhookEndpoint } from './webhook-endpoint.entity.js';

const SAME_URL = 'webhook_endpoint_client_url_key';
const CLOCK_TOLERANCE = '1 minute';

/** The endpoints of all clients. */
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

  /** Disables the endpoint, whose row the open transaction has locked. */
  async disable(id: string, now: Date): Promise<void> {
    await this.transaction.manager.update(WebhookEndpoint, { id }, { disabledAt: now });
  }

  /** Remembers that a disabled endpoint, whose row the open transaction has locked, has missed events since a time. */
  async extendMissed(id: string, oldest: Date): Promise<void> {
    await this.transaction.manager.query(
      `UPDATE webhook_endpoint
          SET missed_periods = missed_periods + tstzmultirange(tstzrange($2::timestamptz, GREATEST($2, disabled_at), '[]'))
        WHERE id = $1`,
      [id, oldest],
    );
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
