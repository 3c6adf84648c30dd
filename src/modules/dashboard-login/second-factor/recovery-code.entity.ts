import { Entity, ForeignKey, PrimaryColumn } from 'typeorm';

/** Replaces a code of the authenticator app once, and is deleted when used. */
@Entity({ name: 'recovery_code' })
export class RecoveryCode {
  @ForeignKey('dashboard_user', { name: 'recovery_code_user_fkey', onDelete: 'CASCADE' })
  @PrimaryColumn({ name: 'user_id', type: 'uuid', primaryKeyConstraintName: 'recovery_code_pkey' })
  userId!: string;

  /** HMAC-SHA-256 with the pepper, because a plain hash of 50 bits could be reversed by search. */
  @PrimaryColumn({ type: 'bytea', primaryKeyConstraintName: 'recovery_code_pkey' })
  digest!: Buffer;
}
