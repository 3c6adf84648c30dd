import { Injectable } from '@nestjs/common';
import type { DashboardPrincipal } from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { Transaction } from '../../../infrastructure/database/index.js';
import { TOKEN_LIFETIME } from '../access-token.js';
import { DeviceAuthorization, type DeviceAuthorizationStatus } from './device-authorization.entity.js';

/** The device authorizations that a user may see: those of the user's organization, in the environments that this host serves. */
export interface Visibility {
  readonly organizationId: string;
  readonly environment: PlatformEnvironment | undefined;
}

export interface DeviceAccess extends Pick<
  DeviceAuthorization,
  'id' | 'clientId' | 'environment' | 'ip' | 'userAgent' | 'redeemedAt'
> {
  readonly decidedAt: Date;
}

export type Decision = Pick<DeviceAuthorization, 'userId' | 'decidedAt' | 'accessVersion'> & {
  readonly status: Extract<DeviceAuthorizationStatus, 'approved' | 'denied'>;
};

/** The columns that the polling statement returns for each device authorization. */
export type AuthorizationRow = Pick<
  DeviceAuthorization,
  'id' | 'clientId' | 'organizationId' | 'environment' | 'scopes' | 'status' | 'userId' | 'accessVersion'
>;

export const RETURNED_COLUMNS = `id, client_id AS "clientId", organization_id AS "organizationId", environment,
  scopes, status, user_id AS "userId", access_version AS "accessVersion"`;

@Injectable()
export class DeviceAuthorizationsRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Returns the device authorizations that give their devices access, or will when these fetch their tokens, newest first. */
  async withAccess(
    { userId, accessVersion }: DashboardPrincipal,
    { organizationId, environment }: Visibility,
    now: Date,
    limit: number,
  ): Promise<DeviceAccess[]> {
    return this.transaction.manager.query<DeviceAccess[]>(
      `SELECT id, client_id AS "clientId", environment, ip, user_agent AS "userAgent", decided_at AS "decidedAt",
              redeemed_at AS "redeemedAt"
         FROM device_authorization
        WHERE user_id = $1 AND access_version = $2 AND organization_id = $3 AND ($4::text IS NULL OR environment = $4)
          AND (status = 'approved' AND expires_at > $5 OR status = 'redeemed' AND redeemed_at > $6)
          AND NOT EXISTS (SELECT FROM revoked_access_token WHERE jti = device_authorization.id)
        ORDER BY decided_at DESC, id LIMIT $7`,
      [
        userId,
        accessVersion,
        organizationId,
        environment ?? null,
        now,
        new Date(now.getTime() - TOKEN_LIFETIME),
        limit,
      ],
    );
  }
}
