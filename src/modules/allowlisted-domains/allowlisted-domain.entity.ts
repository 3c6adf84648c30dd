import { Column, Entity } from 'typeorm';
import { DatedRow } from '../../infrastructure/database/index.js';

@Entity({ name: 'allowlisted_domain' })
export class AllowlistedDomain extends DatedRow {
  @Column({ name: 'organization_id', type: 'uuid' })
  organizationId!: string;

  /** In ASCII and lowercase, as DNS compares names. Only one organization can have proved it. */
  @Column({ type: 'varchar', length: 253 })
  domain!: string;

  /** When the DNS record that proves the domain was first found. Null if it never was, or was missing for days. */
  @Column({ name: 'proved_at', type: 'timestamptz', precision: 3, nullable: true })
  provedAt!: Date | null;

  @Column({ name: 'proof_checked_at', type: 'timestamptz', precision: 3, nullable: true })
  proofCheckedAt!: Date | null;

  /** When a check of a proved domain first failed. Null if the last check succeeded. */
  @Column({ name: 'proof_missing_since', type: 'timestamptz', precision: 3, nullable: true })
  proofMissingSince!: Date | null;
}
