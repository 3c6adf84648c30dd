import { Column, Entity, ForeignKey, PrimaryColumn, Unique } from 'typeorm';

/** Links a user to an account at an identity provider, which is never identified by its address. */
@Entity({ name: 'sso_identity' })
@Unique('sso_identity_user_issuer_key', ['userId', 'issuer'])
export class SsoIdentity {
  @ForeignKey('organization', { name: 'sso_identity_organization_fkey' })
  @PrimaryColumn({ name: 'organization_id', type: 'uuid', primaryKeyConstraintName: 'sso_identity_pkey' })
  organizationId!: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'sso_identity_pkey' })
  issuer!: string;

  @PrimaryColumn({ type: 'varchar', length: 255, primaryKeyConstraintName: 'sso_identity_pkey' })
  subject!: string;

  @ForeignKey('dashboard_user', { name: 'sso_identity_user_fkey', onDelete: 'CASCADE' })
  @Column({ name: 'user_id', type: 'uuid' })
  userId!: string;

  @Column({ name: 'linked_at', type: 'timestamptz', precision: 3 })
  linkedAt!: Date;
}
