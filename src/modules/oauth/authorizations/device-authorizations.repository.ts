import { Injectable } from '@nestjs/common';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { Transaction, violatesUnique } from '../../../infrastructure/database/index.js';
import { DeviceAuthorization, type DeviceAuthorizationStatus } from './device-authorization.entity.js';

/** What a person may look at: requests to their own organization, of the environment that is served here. */
export interface Visibility {
  readonly organizationId: string;
  readonly environment: PlatformEnvironment | undefined;
}

export type Decision = Extract<DeviceAuthorizationStatus, 'approved' | 'denied'>;

/** What is told of a request by the statement that changed it. */
export type ChangedAuthorization = Pick<
  DeviceAuthorization,
  'id' | 'clientId' | 'organizationId' | 'environment' | 'scopes' | 'status' | 'userId'
>;

/** What a poll found. */
export interface PolledAuthorization extends ChangedAuthorization {
  readonly expiresAt: Date;
  /** How the poll was taken; null of a request that does not wait any more. */
  readonly early: boolean | null;
  /** What the device has to wait from now on. */
  readonly intervalSeconds: number | null;
}

/** Of the announced interval, what must really have passed: the network is not as even as a device's clock. */
const ENFORCED_SHARE = 0.8;
/** Seconds. */
const INTERVAL_STEP = 5;
const LONGEST_INTERVAL = 30;

@Injectable()
export class DeviceAuthorizationsRepository {
  constructor(private readonly transaction: Transaction) {}

  /** @returns whether it was added; a user code belongs to one pending request */
  async add(authorization: DeviceAuthorization): Promise<boolean> {
    try {
      await this.transaction.manager.insert(DeviceAuthorization, authorization);
      return true;
    } catch (error) {
      if (violatesUnique(error, 'device_authorization_user_code_key')) return false;
      throw error;
    }
  }

  /** Whatever has become of it. */
  async find(id: string, by: Visibility): Promise<DeviceAuthorization | null> {
    return this.transaction.manager.findOneBy(DeviceAuthorization, { id, ...conditionsOf(by) });
  }

  /** As long as it waits for a decision. */
  async findByUserCode(userCodeDigest: Buffer, by: Visibility, now: Date): Promise<string | undefined> {
    const [row] = await this.transaction.manager.query<{ id: string }[]>(
      `SELECT id FROM device_authorization
        WHERE user_code_digest = $1 AND status = 'pending' AND expires_at > $2
          AND organization_id = $3 AND ($4::text IS NULL OR environment = $4)`,
      [userCodeDigest, now, by.organizationId, by.environment ?? null],
    );
    return row?.id;
  }

  /**
   * Finds the request and takes the poll of a device that waits, in one statement, so that of two at once one is
   * early. One that is early raises the interval and does not move the mark: a device that is only impatient is
   * not held up for good.
   */
  async poll(deviceCodeHash: Buffer, clientId: string, now: Date): Promise<PolledAuthorization | undefined> {
    const tooEarly = `mark.accepted_at + mark.interval_seconds * ${ENFORCED_SHARE} * interval '1 second' > excluded.accepted_at`;
    const [polled] = await this.transaction.manager.query<PolledAuthorization[]>(
      `WITH request AS (
         SELECT * FROM device_authorization WHERE device_code_hash = $1 AND client_id = $2
       ), poll AS (
         INSERT INTO device_poll AS mark (authorization_id, accepted_at, interval_seconds, early)
         SELECT id, $3::timestamptz, interval_seconds, false FROM request WHERE status = 'pending' AND expires_at > $3
         ON CONFLICT (authorization_id) DO UPDATE
            SET early = ${tooEarly},
                accepted_at = CASE WHEN ${tooEarly} THEN mark.accepted_at ELSE excluded.accepted_at END,
                interval_seconds = CASE WHEN ${tooEarly}
                                        THEN LEAST(mark.interval_seconds + ${INTERVAL_STEP}, ${LONGEST_INTERVAL})
                                        ELSE mark.interval_seconds END
         RETURNING early, interval_seconds
       )
       SELECT ${AUTHORIZATION}, expires_at AS "expiresAt", poll.early, poll.interval_seconds AS "intervalSeconds"
         FROM request LEFT JOIN poll ON true`,
      [deviceCodeHash, clientId, now],
    );
    return polled;
  }

  /** @returns the request when it was this call that decided */
  async decide(
    id: string,
    by: Visibility,
    decision: { readonly status: Decision; readonly userId: string },
    now: Date,
  ): Promise<ChangedAuthorization | undefined> {
    return this.change(
      `UPDATE device_authorization SET status = $5, user_id = $6, decided_at = $2
        WHERE id = $1 AND status = 'pending' AND expires_at > $2
          AND organization_id = $3 AND ($4::text IS NULL OR environment = $4)`,
      [id, now, by.organizationId, by.environment ?? null, decision.status, decision.userId],
    );
  }

  /** @returns whether it was this call that redeemed it */
  async redeem(id: string, now: Date): Promise<boolean> {
    const redeemed = await this.change(
      `UPDATE device_authorization SET status = 'redeemed'
        WHERE id = $1 AND status = 'approved' AND expires_at > $2`,
      [id, now],
    );
    return redeemed !== undefined;
  }

  /** Takes back the approval of somebody who may not approve any more. */
  async withdraw(id: string): Promise<void> {
    const approved = { id, status: 'approved' } as const;
    await this.transaction.manager.update(DeviceAuthorization, approved, { status: 'denied' });
  }

  /** Deletes requests that expired before the time given, a batch at most. @returns how many */
  async deleteExpired(before: Date, batch: number): Promise<number> {
    const [gone] = await this.transaction.manager.query<{ count: string }[]>(
      `WITH gone AS (
         DELETE FROM device_authorization
          WHERE id IN (SELECT id FROM device_authorization WHERE expires_at < $1 ORDER BY expires_at LIMIT $2
                          FOR UPDATE SKIP LOCKED)
         RETURNING id
       ), polls AS (
         DELETE FROM device_poll USING gone WHERE authorization_id = gone.id
       )
       SELECT count(*) FROM gone`,
      [before, batch],
    );
    return Number(gone?.count);
  }

  private async change(statement: string, values: unknown[]): Promise<ChangedAuthorization | undefined> {
    const [[row]] = await this.transaction.manager.query<[ChangedAuthorization[], number]>(
      `${statement} RETURNING ${AUTHORIZATION}`,
      values,
    );
    return row;
  }
}

const AUTHORIZATION = `id, client_id AS "clientId", organization_id AS "organizationId", environment,
  scopes, status, user_id AS "userId"`;

function conditionsOf({ organizationId, environment }: Visibility): Pick<Visibility, 'organizationId'> {
  return { organizationId, ...(environment && { environment }) };
}
