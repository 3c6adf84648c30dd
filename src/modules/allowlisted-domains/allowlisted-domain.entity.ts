import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';

@Entity({ name: 'allowlisted_domain' })
@Unique('allowlisted_domain_organization_domain_key', ['organizationId', 'domain'])
export class AllowlistedDomain {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'allowlisted_domain_pkey' })
  id!: string;

  @ForeignKey('organization', { name: 'allowlisted_domain_organization_fkey' })
  @Column({ name: 'organization_id', type: 'uuid' })
  organizationId!: string;

  /** In ASCII and lowercase, as DNS compares names. Only one organization can have proved it. */
  @Index('allowlisted_domain_proved_key', { unique: true, where: 'proved_at IS NOT NULL' })
  @Column({ type: 'varchar', length: 253 })
  domain!: string;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;

  /** When the DNS record that proves the domain was first found. Null if it never was, or was missing for days. */
  @Column({ name: 'proved_at', type: 'timestamptz', precision: 3, nullable: true })
  provedAt!: Date | null;

  @Column({ name: 'proof_checked_at', type: 'timestamptz', precision: 3, nullable: true })
  proofCheckedAt!: Date | null;

  /** When a check of a proved domain first failed. Null if the last check succeeded. */
  @Column({ name: 'proof_missing_since', type: 'timestamptz', precision: 3, nullable: true })
  proofMissingSince!: Date | null;
}
