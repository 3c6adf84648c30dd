import { Entity, PrimaryColumn } from 'typeorm';

/** A recovery code, which works once in place of a code of the authenticator app and is then deleted. */
@Entity({ name: 'recovery_code' })
export class RecoveryCode {
  @PrimaryColumn({ name: 'user_id', type: 'uuid' })
  userId!: string;

  /** HMAC-SHA-256 with the pepper, because a plain hash of 50 bits could be reversed by brute force. */
  @PrimaryColumn({ type: 'bytea' })
  digest!: Buffer;
}
