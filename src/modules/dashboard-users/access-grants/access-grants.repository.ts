import { Injectable } from '@nestjs/common';
import { IsNull, MoreThan } from 'typeorm';
import { Transaction } from '../../../infrastructure/database/index.js';
import { AccessGrant } from './access-grant.entity.js';

/** A grant with the email of its user. */
export interface GrantOfUser extends AccessGrant {
  readonly email: string;
}

const GRANT = `access_grant.id, user_id AS "userId", dashboard_user.email, access_grant.role, reason,
  access_grant.created_at AS "createdAt", created_by AS "createdBy", expires_at AS "expiresAt",
  revoked_at AS "revokedAt"`;

@Injectable()
export class AccessGrantsRepository {
  constructor(private readonly transaction: Transaction) {}

  async add(grant: AccessGrant): Promise<void> {
    await this.transaction.manager.insert(AccessGrant, grant);
  }

  /** Returns the grants in force first, then the newest. */
  async list(organizationId: string, now: Date, limit: number): Promise<GrantOfUser[]> {
    return this.transaction.manager.query<GrantOfUser[]>(
      `SELECT ${GRANT} FROM access_grant JOIN dashboard_user ON dashboard_user.id = user_id
        WHERE organization_id = $1
        ORDER BY (revoked_at IS NULL AND expires_at > $2) DESC, access_grant.created_at DESC, access_grant.id
        LIMIT $3`,
      [organizationId, now, limit],
    );
  }

  async find(organizationId: string, id: string): Promise<GrantOfUser | undefined> {
    const [grant] = await this.transaction.manager.query<GrantOfUser[]>(
      `SELECT ${GRANT} FROM access_grant JOIN dashboard_user ON dashboard_user.id = user_id
        WHERE organization_id = $1 AND access_grant.id = $2`,
      [organizationId, id],
    );
    return grant;
  }

  /** @returns whether the grant was in force; true for only one of several concurrent calls */
  async revoke(id: string, now: Date): Promise<boolean> {
    const { affected } = await this.transaction.manager.update(
      AccessGrant,
      { id, revokedAt: IsNull(), expiresAt: MoreThan(now) },
      { revokedAt: now },
    );
    return affected === 1;
  }
}
