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

/** How a poll of a device that waits was taken. */
export interface TakenPoll {
  readonly early: boolean;
  readonly intervalSeconds: number;
}

/** What is told of a request by the statement that changed it. */
export type ChangedAuthorization = Pick<
  DeviceAuthorization,
  'id' | 'clientId' | 'organizationId' | 'environment' | 'scopes' | 'status' | 'userId'
>;

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

  async findByDeviceCode(deviceCodeHash: Buffer, clientId: string): Promise<DeviceAuthorization | null> {
    return this.transaction.manager.findOneBy(DeviceAuthorization, { deviceCodeHash, clientId });
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
   * Takes a poll of a device that waits, in one statement, so that of two at once one is early. One that is
   * early raises the interval and does not move the mark: a device that is only impatient is not held up for
   * good.
   *
   * @returns undefined when the request does not wait any more
   */
  async takePoll(id: string, now: Date): Promise<TakenPoll | undefined> {
    const [[taken]] = await this.transaction.manager.query<[TakenPoll[], number]>(
      `UPDATE device_authorization
          SET last_polled_at = CASE WHEN early THEN last_polled_at ELSE $2 END,
              interval_seconds = CASE WHEN early THEN LEAST(interval_seconds + ${INTERVAL_STEP}, ${LONGEST_INTERVAL})
                                      ELSE interval_seconds END
         FROM (SELECT id AS polled,
                      last_polled_at IS NOT NULL
                        AND last_polled_at + interval_seconds * ${ENFORCED_SHARE} * interval '1 second' > $2::timestamptz
                        AS early
                 FROM device_authorization
                WHERE id = $1 AND status = 'pending' AND expires_at > $2
                  FOR UPDATE) poll
        WHERE id = polled
        RETURNING early, interval_seconds AS "intervalSeconds"`,
      [id, now],
    );
    return taken;
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

  /** @returns the request when it was this call that redeemed it */
  async redeem(id: string, now: Date): Promise<ChangedAuthorization | undefined> {
    return this.change(
      `UPDATE device_authorization SET status = 'redeemed'
        WHERE id = $1 AND status = 'approved' AND expires_at > $2`,
      [id, now],
    );
  }

  /** Takes back the approval of somebody who may not approve any more. */
  async withdraw(id: string): Promise<void> {
    await this.transaction.manager.update(DeviceAuthorization, { id }, { status: 'denied' });
  }

  /** Deletes requests that expired before the time given, a batch at most. @returns how many */
  async deleteExpired(before: Date, batch: number): Promise<number> {
    const [, count] = await this.transaction.manager.query<[unknown, number]>(
      `DELETE FROM device_authorization
        WHERE id IN (SELECT id FROM device_authorization WHERE expires_at < $1 ORDER BY expires_at LIMIT $2
                        FOR UPDATE SKIP LOCKED)`,
      [before, batch],
    );
    return count;
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
