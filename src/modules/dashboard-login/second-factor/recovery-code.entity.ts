import { Entity, ForeignKey, PrimaryColumn } from 'typeorm';

/** Stands in for a code of the second factor, once. Deleted with its use. */
@Entity({ name: 'recovery_code' })
export class RecoveryCode {
  @ForeignKey('dashboard_user', { name: 'recovery_code_user_fkey', onDelete: 'CASCADE' })
  @PrimaryColumn({ name: 'user_id', type: 'uuid', primaryKeyConstraintName: 'recovery_code_pkey' })
  userId!: string;

  /** HMAC-SHA-256 under the pepper: 50 bits alone would not stand a search. */
  @PrimaryColumn({ type: 'bytea', primaryKeyConstraintName: 'recovery_code_pkey' })
  digest!: Buffer;
}
