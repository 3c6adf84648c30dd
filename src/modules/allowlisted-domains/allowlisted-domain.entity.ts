import { Column, Entity, IsNull, Not } from 'typeorm';
import { DatedRow, DueSince } from '../../infrastructure/database/index.js';
import { DAY } from '../../infrastructure/time/index.js';

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

  @DueSince<AllowlistedDomain>('domain_checks', { provedAt: Not(IsNull()) }, DAY)
  @Column({ name: 'proof_checked_at', type: 'timestamptz', precision: 3, nullable: true })
  proofCheckedAt!: Date | null;

  /** When the record was last asked for, whether or not the lookup had a result. */
  @Column({ name: 'proof_attempted_at', type: 'timestamptz', precision: 3, nullable: true, select: false })
  proofAttemptedAt?: Date | null;

  /** When a check of a proved domain first failed. Null if the last check succeeded. */
  @DueSince('domain_records_missing')
  @Column({ name: 'proof_missing_since', type: 'timestamptz', precision: 3, nullable: true })
  proofMissingSince!: Date | null;
}
