import { Injectable } from '@nestjs/common';
import { IsNull, Not } from 'typeorm';
import { Transaction } from '../../infrastructure/database/index.js';
import { CLOCK_TOLERANCE, SECOND } from '../../infrastructure/time/index.js';
import { WebhookEndpoint } from './webhook-endpoint.entity.js';

const TOLERANCE = `interval '${CLOCK_TOLERANCE / SECOND} seconds'`;

/** Whether endpoints are disabled, and what they miss then. */
@Injectable()
export class WebhookEndpointsRepository {
  constructor(private readonly transaction: Transaction) {}

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
                tstzrange(disabled_at - ${TOLERANCE}, GREATEST($2, disabled_at) + ${TOLERANCE}))
        WHERE id = $1 AND disabled_at IS NOT NULL`,
      [id, now],
    );
    return changed > 0;
  }

  /** Disables the endpoint, whose row the open transaction has locked. */
  async disable(id: string, now: Date): Promise<void> {
    await this.transaction.manager.update(WebhookEndpoint, { id }, { disabledAt: now });
  }

  /**
   * Hides an endpoint with a long queue, whose row the open transaction has locked, and disables it, so that nothing is published to it.
   * Its URL can be used again.
   */
  async hide(id: string, now: Date): Promise<void> {
    await this.transaction.manager.query(
      `UPDATE webhook_endpoint SET deleted_at = $2, disabled_at = COALESCE(disabled_at, $2), url = 'deleted:' || id WHERE id = $1`,
      [id, now],
    );
  }

  /** Removes an endpoint if it is hidden. */
  async removeHidden(id: string): Promise<void> {
    await this.transaction.manager.delete(WebhookEndpoint, { id, deletedAt: Not(IsNull()) });
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
}
