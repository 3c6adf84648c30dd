import { Injectable } from '@nestjs/common';
import { Transaction } from '../../../infrastructure/database/index.js';
import type { AccessGrant } from '../access-grant.entity.js';

/** A grant with the email address of its user, and whether it is in force. */
export type ListedGrant = AccessGrant & { readonly email: string; readonly active: boolean };

/** The place of a grant in the list: whether it was active when the first page was read never changes later. */
export type GrantPosition = Pick<AccessGrant, 'createdAt' | 'id'> & { readonly wasActive: boolean };

const GRANTS = `
  SELECT access_grant.id, user_id AS "userId", email, access_grant.role, reason, access_grant.created_at AS "createdAt",
         created_by AS "createdBy", expires_at AS "expiresAt", revoked_at AS "revokedAt",
         revoked_at IS NULL AND expires_at > $2 AS active
    FROM access_grant JOIN dashboard_user ON dashboard_user.id = user_id
   WHERE organization_id = $1`;

@Injectable()
export class AccessGrantsRepository {
  constructor(private readonly transaction: Transaction) {}

  /**
   * Returns the grants that were active at a time first, the newest of them first, and then the others.
   *
   * @param after the position that the grants come after
   */
  async list(
    organizationId: string,
    { now, at, after }: { readonly now: Date; readonly at: Date; readonly after?: GrantPosition | undefined },
    limit: number,
  ): Promise<(ListedGrant & GrantPosition)[]> {
    return this.transaction.manager.query<(ListedGrant & GrantPosition)[]>(
      `SELECT * FROM (SELECT *, "expiresAt" > $3 AND coalesce("revokedAt" > $3, true) AS "wasActive" FROM (${GRANTS}) found) listed
        WHERE $4::boolean IS NULL OR ("wasActive", "createdAt", id) < ($4, $5::timestamptz, $6::uuid)
        ORDER BY "wasActive" DESC, "createdAt" DESC, id DESC LIMIT $7`,
      [organizationId, now, at, after?.wasActive, after?.createdAt, after?.id, limit],
    );
  }

  async find(organizationId: string, now: Date, id: string): Promise<ListedGrant | undefined> {
    const [grant] = await this.transaction.manager.query<ListedGrant[]>(
      `${GRANTS} AND access_grant.id = $3`,
      [organizationId, now, id],
    );
    return grant;
  }
}
