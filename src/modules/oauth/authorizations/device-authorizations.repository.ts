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

  /** Takes back the approval of somebody who may not approve any more. */
  async withdraw(id: string): Promise<void> {
    const approved = { id, status: 'approved' } as const;
    await this.transaction.manager.update(DeviceAuthorization, approved, { status: 'denied' });
  }

  private async change(statement: string, values: unknown[]): Promise<ChangedAuthorization | undefined> {
    const [[row]] = await this.transaction.manager.query<[ChangedAuthorization[], number]>(
      `${statement} RETURNING ${AUTHORIZATION}`,
      values,
    );
    return row;
  }
}

/** The columns of `ChangedAuthorization`. */
export const AUTHORIZATION = `id, client_id AS "clientId", organization_id AS "organizationId", environment,
  scopes, status, user_id AS "userId"`;

function conditionsOf({ organizationId, environment }: Visibility): Pick<Visibility, 'organizationId'> {
  return { organizationId, ...(environment && { environment }) };
}
