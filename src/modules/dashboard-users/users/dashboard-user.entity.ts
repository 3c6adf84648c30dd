import { randomUUID } from 'node:crypto';
import { Column, Entity, IsNull, Not, type FindOptionsWhere } from 'typeorm';
import { DatedRow } from '../../../infrastructure/database/index.js';
import type { DashboardRole } from '../../../infrastructure/auth/index.js';
import { sha256 } from '../../../infrastructure/crypto/index.js';
import { DAY } from '../../../infrastructure/time/index.js';

/** Milliseconds for which the link in an invitation works. */
export const INVITATION_LIFETIME = 7 * DAY;

@Entity({ name: 'dashboard_user' })
export class DashboardUser extends DatedRow {
  @Column({ name: 'organization_id', type: 'uuid' })
  organizationId!: string;

  /** Lowercase, because addresses that differ only in case belong to the same user. */
  @Column({ type: 'varchar', length: 254 })
  email!: string;

  @Column({ type: 'varchar', length: 256 })
  name!: string;

  /** The user's own role. An access grant can give a higher one for a limited time. */
  @Column({ type: 'varchar', length: 6 })
  role!: DashboardRole;

  /** Null until an invited user sets a password. From then on, the email is unique. */
  @Column({ name: 'password_hash', type: 'text', nullable: true })
  passwordHash!: string | null;

  /** When the password that was generated for the user expires. */
  @Column({ name: 'password_expires_at', type: 'timestamptz', precision: 3, nullable: true })
  passwordExpiresAt!: Date | null;

  /** The SHA-256 of the hash of that password. Passwords that replace it do not expire, also those of version 0.3.0. */
  @Column({ name: 'expiring_password', type: 'bytea', nullable: true })
  expiringPassword?: Buffer | null;

  @Column({ name: 'disabled_at', type: 'timestamptz', precision: 3, nullable: true })
  disabledAt!: Date | null;

  /** Secret of the second factor (RFC 6238), sealed. Takes effect when `totpEnabledAt` is set. */
  @Column({ name: 'totp_secret_sealed', type: 'bytea', nullable: true })
  totpSecretSealed!: Buffer | null;

  @Column({ name: 'totp_enabled_at', type: 'timestamptz', precision: 3, nullable: true })
  totpEnabledAt!: Date | null;

  /** The step of the last accepted code. No code is accepted twice (RFC 6238, section 5.2). */
  @Column({ name: 'totp_last_step', type: 'integer', nullable: true })
  totpLastStep!: number | null;

  /** Increases when the user's access tokens and device approvals end before they expire. */
  @Column({ name: 'access_version', type: 'integer', default: 0 })
  accessVersion!: number;

  /** Whether this owner can log in with the password when the organization requires single sign-on. */
  @Column({ name: 'is_break_glass', type: 'boolean', default: false })
  isBreakGlass!: boolean;
}

export const USER_STATUSES = ['active', 'invited', 'disabled'] as const;
export type UserStatus = (typeof USER_STATUSES)[number];

/** Invited users have not set a password yet. */
export function statusOf({ disabledAt, passwordHash }: DashboardUser): UserStatus {
  return disabledAt ? 'disabled' : passwordHash === null ? 'invited' : 'active';
}

/** The users who have a status, as `statusOf` says it. */
export const USERS_WITH_STATUS: Readonly<Record<UserStatus, FindOptionsWhere<DashboardUser>>> = {
  active: { disabledAt: IsNull(), passwordHash: Not(IsNull()) },
  invited: { disabledAt: IsNull(), passwordHash: IsNull() },
  disabled: { disabledAt: Not(IsNull()) },
};

type NewUser = Pick<DashboardUser, 'organizationId' | 'email' | 'name' | 'role' | 'passwordHash'> &
  Partial<Pick<DashboardUser, 'passwordExpiresAt'>>;

/** Returns a user to add, whose email may have capital letters. */
export function newUser(
  { organizationId, email, name, role, passwordHash, passwordExpiresAt = null }: NewUser,
  createdAt: Date,
): DashboardUser {
  return {
    id: randomUUID(),
    organizationId,
    email: email.toLowerCase(),
    name,
    role,
    passwordHash,
    passwordExpiresAt,
    expiringPassword: passwordExpiresAt && passwordHash !== null ? sha256(passwordHash) : null,
    disabledAt: null,
    totpSecretSealed: null,
    totpEnabledAt: null,
    totpLastStep: null,
    accessVersion: 0,
    isBreakGlass: false,
    createdAt,
  };
}

/** Returns whether the password of the user was generated, and has expired. */
export function hasExpiredPassword(
  { passwordHash, passwordExpiresAt, expiringPassword }: DashboardUser,
  now: Date,
): boolean {
  if (!passwordExpiresAt || passwordExpiresAt > now || passwordHash === null) return false;
  return expiringPassword?.equals(sha256(passwordHash)) ?? false;
}
