import { Entity, ForeignKey, PrimaryColumn } from 'typeorm';

/** A recovery code, which works once in place of a code of the authenticator app and is then deleted. */
@Entity({ name: 'recovery_code' })
export class RecoveryCode {
  @ForeignKey('dashboard_user', { name: 'recovery_code_user_fkey', onDelete: 'CASCADE' })
  @PrimaryColumn({ name: 'user_id', type: 'uuid', primaryKeyConstraintName: 'recovery_code_pkey' })
  userId!: string;

  /** HMAC-SHA-256 with the pepper, because a plain hash of 50 bits could be reversed by brute force. */
  @PrimaryColumn({ type: 'bytea', primaryKeyConstraintName: 'recovery_code_pkey' })
  digest!: Buffer;
}
