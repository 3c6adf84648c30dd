import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The last entry of the chain of an organization, or of the platform. Appending an entry locks this row. */
@Entity({ name: 'audit_chain' })
export class AuditChainHead {
  @PrimaryColumn({ name: 'organization_id', type: 'uuid', primaryKeyConstraintName: 'audit_chain_pkey' })
  organizationId!: string;

  @Column({ type: 'bigint' })
  sequence!: string;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;

  @Column({ type: 'bytea' })
  hash!: Buffer;
}
