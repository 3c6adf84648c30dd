import { Column, Entity, PrimaryColumn } from 'typeorm';
import { DeleteAfter, StoredRow } from '../../../infrastructure/database/index.js';
import { MINUTE } from '../../../infrastructure/time/index.js';

/** Milliseconds for which a link to reset a password works. */
export const RESET_LIFETIME = 30 * MINUTE;

/** A single-use link, sent by email, that sets the password of a user. A user has at most one. */
@Entity({ name: 'password_link' })
export class PasswordLink {
  /** SHA-256 of the token; after the link was used, of the token and the cookie of the browser. */
  @PrimaryColumn({ name: 'token_hash', type: 'bytea' })
  tokenHash!: Buffer;

  @Column({ name: 'user_id', type: 'uuid' })
  userId!: string;

  @DeleteAfter(0)
  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3 })
  expiresAt!: Date;
}

/** A request for a new password, for an email that may have no account. It is looked up after the response. */
@Entity({ name: 'password_reset_request' })
export class PasswordResetRequest extends StoredRow {
  @Column({ name: 'email_sealed', type: 'bytea' })
  emailSealed!: Buffer;

  @DeleteAfter(RESET_LIFETIME)
  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;
}
