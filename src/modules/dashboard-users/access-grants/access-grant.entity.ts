import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { DashboardRole } from '../../../infrastructure/auth/index.js';

/** A higher role that a user has for a limited time and a stated reason. */
@Entity({ name: 'access_grant' })
export class AccessGrant {
  @PrimaryColumn({ type: 'uuid' })
  id!: string;

  @Column({ name: 'user_id', type: 'uuid' })
  userId!: string;

  @Column({ type: 'varchar', length: 6 })
  role!: Extract<DashboardRole, 'owner' | 'admin'>;

  @Column({ type: 'varchar', length: 256 })
  reason!: string;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;

  /** Email of the user who granted the role. Copied, because that user may be removed before the grant ends. */
  @Column({ name: 'created_by', type: 'varchar', length: 254 })
  createdBy!: string;

  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3 })
  expiresAt!: Date;

  @Column({ name: 'revoked_at', type: 'timestamptz', precision: 3, nullable: true })
  revokedAt!: Date | null;
}
