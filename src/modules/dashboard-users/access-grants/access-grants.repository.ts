import { Injectable } from '@nestjs/common';
import { Column, Entity } from 'typeorm';
import { DatedRow, Transaction } from '../../../infrastructure/database/index.js';
import type { GrantedRole } from './access-grants.dto.js';

/** A higher role that a user has for a limited time and a stated reason. */
@Entity({ name: 'access_grant' })
export class AccessGrant extends DatedRow {
  @Column({ name: 'user_id', type: 'uuid' })
  userId!: string;

  @Column({ type: 'varchar', length: 6 })
  role!: GrantedRole;

  @Column({ type: 'varchar', length: 256 })
  reason!: string;

  /** Email of the user who granted the role. Copied, because that user may be removed before the grant ends. */
  @Column({ name: 'created_by', type: 'varchar', length: 254 })
  createdBy!: string;

  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3 })
  expiresAt!: Date;

  @Column({ name: 'revoked_at', type: 'timestamptz', precision: 3, nullable: true })
  revokedAt!: Date | null;
}

/** A grant with the email address of its user, and whether it is in force. */
export type ListedGrant = AccessGrant & { readonly email: string; readonly active: boolean };

const GRANTS = `
  SELECT access_grant.id, user_id AS "userId", email, access_grant.role, reason, access_grant.created_at AS "createdAt",
         created_by AS "createdBy", expires_at AS "expiresAt", revoked_at AS "revokedAt",
         revoked_at IS NULL AND expires_at > $2 AS active
    FROM access_grant JOIN dashboard_user ON dashboard_user.id = user_id
   WHERE organization_id = $1`;

@Injectable()
export class AccessGrantsRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Returns the active grants first, then the newest. */
  async list(organizationId: string, now: Date, limit: number): Promise<ListedGrant[]> {
    return this.transaction.manager.query<ListedGrant[]>(
      `${GRANTS} ORDER BY active DESC, access_grant.created_at DESC, access_grant.id LIMIT $3`,
      [organizationId, now, limit],
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
