import { Injectable } from '@nestjs/common';
import { Transaction } from '../../../infrastructure/database/index.js';
import type { AccessGrantResponse } from './access-grants.dto.js';

/** Grants as they are returned: the names are those of the response. */
const GRANTS = `
  SELECT access_grant.id, user_id, email, access_grant.role, reason, access_grant.created_at, created_by, expires_at,
         revoked_at, revoked_at IS NULL AND expires_at > $2 AS active
    FROM access_grant JOIN dashboard_user ON dashboard_user.id = user_id
   WHERE organization_id = $1`;

@Injectable()
export class AccessGrantsRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Returns the active grants first, then the newest. */
  async list(organizationId: string, now: Date, limit: number): Promise<AccessGrantResponse[]> {
    return this.transaction.manager.query<AccessGrantResponse[]>(
      `${GRANTS} ORDER BY active DESC, access_grant.created_at DESC, access_grant.id LIMIT $3`,
      [organizationId, now, limit],
    );
  }

  async find(organizationId: string, now: Date, id: string): Promise<AccessGrantResponse | undefined> {
    const [grant] = await this.transaction.manager.query<AccessGrantResponse[]>(
      `${GRANTS} AND access_grant.id = $3`,
      [organizationId, now, id],
    );
    return grant;
  }
}
