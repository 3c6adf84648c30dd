import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { DeleteAfter } from '../../../infrastructure/database/index.js';
import { MINUTE } from '../../../infrastructure/time/index.js';

/** Milliseconds for which a link to reset a password works. */
export const RESET_LIFETIME = 30 * MINUTE;

/** A single-use link, sent by email, that sets the password of a user. A user has at most one. */
@Entity({ name: 'password_link' })
@Unique('password_link_user_key', ['userId'])
export class PasswordLink {
  /** SHA-256. */
  @PrimaryColumn({ name: 'token_hash', type: 'bytea', primaryKeyConstraintName: 'password_link_pkey' })
  tokenHash!: Buffer;

  @ForeignKey('dashboard_user', { name: 'password_link_user_fkey', onDelete: 'CASCADE' })
  @Column({ name: 'user_id', type: 'uuid' })
  userId!: string;

  /** SHA-256 of the cookie of the browser that used the link; null if it was not used. */
  @Column({ name: 'used_by', type: 'bytea', nullable: true })
  usedBy!: Buffer | null;

  @Index('password_link_expires_at_index')
  @DeleteAfter(0)
  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3 })
  expiresAt!: Date;
}
