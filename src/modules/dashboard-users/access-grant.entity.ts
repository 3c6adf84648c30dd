import { Column, Entity } from 'typeorm';
import { DatedRow } from '../../infrastructure/database/index.js';

/** The roles that a user can have for a limited time. */
export const GRANTED_ROLES = ['owner', 'admin'] as const;
export type GrantedRole = (typeof GRANTED_ROLES)[number];

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
