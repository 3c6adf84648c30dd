import { Check, Column, Entity, ForeignKey, PrimaryColumn, Unique } from 'typeorm';
import type { DashboardRole } from '../../infrastructure/auth/index.js';

/** A person who uses the dashboard of one organization. */
@Entity({ name: 'dashboard_user' })
@Check('dashboard_user_role_check', `role IN ('owner', 'admin', 'member')`)
@Unique('dashboard_user_email_key', ['email'])
export class DashboardUser {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'dashboard_user_pkey' })
  id!: string;

  @ForeignKey('organization', { name: 'dashboard_user_organization_fkey' })
  @Column({ name: 'organization_id', type: 'uuid' })
  organizationId!: string;

  /** In lower case: nobody means two people by one address. */
  @Column({ type: 'varchar', length: 254 })
  email!: string;

  @Column({ type: 'varchar', length: 256 })
  name!: string;

  @Column({ type: 'varchar', length: 6 })
  role!: DashboardRole;

  @Column({ name: 'password_hash', type: 'text' })
  passwordHash!: string;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;
}
