import { Injectable } from '@nestjs/common';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { Transaction } from '../../../infrastructure/database/index.js';
import { LANE } from '../queue/sql/lane.js';

/** An endpoint whose attempts have all failed for some time. */
export interface FailingEndpoint {
  readonly id: string;
  readonly url: string;
  readonly environment: PlatformEnvironment;
  readonly organizationId: string;
  /** The first failure since the last success. */
  readonly failingSince: Date;
}

/** An endpoint that was disabled because its attempts have failed. */
export interface DisabledEndpoint extends FailingEndpoint {
  readonly disabledAt: Date;
}

/** For how long all attempts must have failed, in milliseconds. */
export interface FailingTimes {
  readonly untilWarning: number;
  /** At least so long after the warning. */
  readonly untilDisabled: number;
}

const COLUMNS = `lane.endpoint_id AS id, endpoint.url, client.environment, client.organization_id AS "organizationId"`;
const FROM_LANES = `
    FROM webhook_lane lane
    JOIN webhook_endpoint endpoint ON endpoint.id = lane.endpoint_id AND endpoint.deleted_at IS NULL
    JOIN api_client client ON client.id = endpoint.client_id`;

const FAILING = `SELECT ${COLUMNS}, lane.failing_since AS "failingSince"${FROM_LANES}`;
/** A test that succeeds, an attempt that was in flight, and a new URL end the failures of the lane, but the endpoint stays disabled. */
const DISABLED = `SELECT ${COLUMNS}, endpoint.disabled_at AS "disabledAt",
         LEAST(lane.failing_since, endpoint.disabled_at) AS "failingSince"${FROM_LANES}`;

/** A success that the previous release settled does not reset `failing_since`. */
const IS_FAILING = `NOT (${LANE.isPaused}) AND (lane.last_success_at >= lane.failing_since) IS NOT TRUE
  AND lane.last_failure_at >= lane.failing_since + $1 * interval '1 millisecond'`;
const IS_WARNED = '(lane.notified_at >= lane.failing_since) IS TRUE';
/** Whether the failures have continued since the warning. */
const IS_TO_BE_DISABLED = `${IS_FAILING} AND ${IS_WARNED}
  AND lane.last_failure_at >= lane.notified_at + $2 * interval '1 millisecond'`;

/** Endpoints that keep failing, and those that were disabled for it. */
@Injectable()
export class FailingEndpointsRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Returns the endpoints whose owners have not been warned since the failures began. */
  async toWarn({ untilWarning }: FailingTimes): Promise<FailingEndpoint[]> {
    return this.transaction.manager.query<FailingEndpoint[]>(
      `${FAILING} WHERE ${IS_FAILING} AND NOT ${IS_WARNED} ORDER BY id`,
      [untilWarning],
    );
  }

  async toDisable({ untilWarning, untilDisabled }: FailingTimes): Promise<FailingEndpoint[]> {
    return this.transaction.manager.query<FailingEndpoint[]>(
      `${FAILING} WHERE ${IS_TO_BE_DISABLED} ORDER BY id`,
      [untilWarning + untilDisabled, untilDisabled],
    );
  }

  /**
   * Pauses the lane of an endpoint that is to be disabled, unless it has succeeded or was paused in the meantime. Locks the endpoint
   * before its lane, as deleting an endpoint does.
   *
   * @returns whether it was paused
   */
  async pause(id: string, { untilWarning, untilDisabled }: FailingTimes, now: Date): Promise<boolean> {
    const paused = await this.transaction.change(
      `WITH endpoint AS MATERIALIZED (SELECT id FROM webhook_endpoint WHERE id = $3 FOR NO KEY UPDATE)
       UPDATE webhook_lane lane SET paused_at = $4
         FROM endpoint WHERE lane.endpoint_id = endpoint.id AND ${IS_TO_BE_DISABLED}`,
      [untilWarning + untilDisabled, untilDisabled, id, now],
    );
    return paused > 0;
  }

  /** Returns the disabled endpoints whose owners have not been notified. */
  async toAnnounce(): Promise<DisabledEndpoint[]> {
    return this.transaction.manager.query<DisabledEndpoint[]>(
      `${DISABLED} WHERE endpoint.disabled_at IS NOT NULL AND (lane.notified_at >= endpoint.disabled_at) IS NOT TRUE
        ORDER BY id`,
    );
  }

  /** Returns disabled endpoints with waiting deliveries, and those that were deleted with a long queue. */
  async toEmpty(): Promise<string[]> {
    const rows = await this.transaction.manager.query<{ id: string }[]>(
      `SELECT id FROM webhook_endpoint
        WHERE deleted_at IS NOT NULL
           OR disabled_at IS NOT NULL
              AND EXISTS (SELECT FROM webhook_delivery WHERE endpoint_id = webhook_endpoint.id AND claim_id IS NULL)`,
    );
    return rows.map(({ id }) => id);
  }
}
