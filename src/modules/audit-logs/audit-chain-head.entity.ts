import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';

/** The last entry of an organization's chain. Appending an entry locks this row. */
@Entity({ name: 'audit_chain' })
export class AuditChainHead {
  @ForeignKey('organization', { name: 'audit_chain_organization_fkey' })
  @PrimaryColumn({ name: 'organization_id', type: 'uuid', primaryKeyConstraintName: 'audit_chain_pkey' })
  organizationId!: string;

  @Column({ type: 'bigint' })
  sequence!: string;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;

  @Column({ type: 'bytea' })
  hash!: Buffer;
}
