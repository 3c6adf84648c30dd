import { Column, Entity, PrimaryColumn } from 'typeorm';
import { DatedRow, DeleteAfter } from '../../../infrastructure/database/index.js';

export const MAX_NAME_LENGTH = 64;

/** A passkey (Web Authentication, Level 3): a key pair whose private key stays on the user's device. */
@Entity({ name: 'passkey' })
export class Passkey extends DatedRow {
  @Column({ name: 'user_id', type: 'uuid' })
  userId!: string;

  @Column({ name: 'credential_id', type: 'bytea' })
  credentialId!: Buffer;

  /** As COSE key (RFC 9052). */
  @Column({ name: 'public_key', type: 'bytea' })
  publicKey!: Buffer;

  /** The signature counter of the last login, an unsigned 32-bit integer. Usually 0 for passkeys that devices share. */
  @Column({ type: 'bigint' })
  counter!: string;

  @Column({ type: 'varchar', length: MAX_NAME_LENGTH })
  name!: string;

  /** As of the session in which it was added: otherwise, a passkey would turn a session without an owner's rights into one with them. */
  @Column({ name: 'is_owner_approved', type: 'boolean', default: true })
  isOwnerApproved!: boolean;

  @Column({ name: 'used_at', type: 'timestamptz', precision: 3, nullable: true })
  usedAt!: Date | null;
}

/** A random value that a passkey signs once, so that no earlier signature is accepted. */
@Entity({ name: 'passkey_challenge' })
export class PasskeyChallenge {
  @PrimaryColumn({ type: 'bytea' })
  challenge!: Buffer;

  /** SHA-256 of the browser that logs in, or of the session that adds a passkey. */
  @Column({ type: 'bytea' })
  owner!: Buffer;

  @DeleteAfter(0)
  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3 })
  expiresAt!: Date;
}
