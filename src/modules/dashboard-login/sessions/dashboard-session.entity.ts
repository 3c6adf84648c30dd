import { Column, Entity } from 'typeorm';
import { DeleteAfter, StoredRow } from '../../../infrastructure/database/index.js';

/** `second_factor`: the password was correct and the code is still missing. Grants no access. */
export type SessionStage = 'second_factor' | 'complete';

/** A login in a browser. Only a hash of the token in its cookie is stored. */
@Entity({ name: 'dashboard_session' })
export class DashboardSession extends StoredRow {
  /** SHA-256. */
  @Column({ name: 'token_hash', type: 'bytea' })
  tokenHash!: Buffer;

  @Column({ name: 'user_id', type: 'uuid' })
  userId!: string;

  @Column({ type: 'varchar', length: 13 })
  stage!: SessionStage;

  /** The passkey that the user logged in with. Null if it was removed since, or for a login with the password. */
  @Column({ name: 'passkey_id', type: 'uuid', nullable: true })
  passkeyId!: string | null;

  /** Whether the password was the first step. Single sign-on may be required before the second one. */
  @Column({ name: 'used_password', type: 'boolean', default: false })
  usedPassword!: boolean;

  /** Whether the user logged in through an identity provider, and the organization counts that as two factors. */
  @Column({ name: 'is_two_factor', type: 'boolean', default: false })
  isTwoFactor!: boolean;

  /** False if the user logged in through an identity provider that no owner approved: the session has no rights of an owner. */
  @Column({ name: 'is_owner_approved', type: 'boolean', default: true })
  isOwnerApproved!: boolean;

  @Column({ name: 'authenticated_at', type: 'timestamptz', precision: 3 })
  authenticatedAt!: Date;

  @DeleteAfter(0)
  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3 })
  expiresAt!: Date;

  /** When the user sent the last request, or up to a tenth of the allowed pause before. Null for a session of version 0.3.0. */
  @Column({ name: 'used_at', type: 'timestamptz', precision: 3, nullable: true })
  usedAt!: Date | null;

  /** When the session, and the one that its second step opens, end at the latest; null if only their lifetime limits them. */
  @Column({ name: 'ends_by', type: 'timestamptz', precision: 3, nullable: true })
  endsBy!: Date | null;

  @Column({ type: 'text' })
  ip!: string;

  @Column({ name: 'user_agent', type: 'text' })
  userAgent!: string;
}
