import { Column, Entity, ForeignKey, PrimaryColumn, Unique } from 'typeorm';

@Entity({ name: 'allowlisted_domain' })
@Unique('allowlisted_domain_organization_domain_key', ['organizationId', 'domain'])
export class AllowlistedDomain {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'allowlisted_domain_pkey' })
  id!: string;

  @ForeignKey('organization', { name: 'allowlisted_domain_organization_fkey' })
  @Column({ name: 'organization_id', type: 'uuid' })
  organizationId!: string;

  /** In ASCII and lowercase, as DNS compares names. */
  @Column({ type: 'varchar', length: 253 })
  domain!: string;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;
}
