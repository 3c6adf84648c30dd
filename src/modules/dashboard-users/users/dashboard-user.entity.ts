import { randomUUID } from 'node:crypto';
import { Column, Entity } from 'typeorm';
import { DatedRow } from '../../../infrastructure/database/index.js';
import type { DashboardRole } from '../../../infrastructure/auth/index.js';
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

type NewUser = Pick<DashboardUser, 'organizationId' | 'email' | 'name' | 'role' | 'passwordHash'>;

/** Returns a user to add, whose email may have capital letters. */
export function newUser(
  { organizationId, email, name, role, passwordHash }: NewUser,
  createdAt: Date,
): DashboardUser {
  return {
    id: randomUUID(),
    organizationId,
    email: email.toLowerCase(),
    name,
    role,
    passwordHash,
    disabledAt: null,
    totpSecretSealed: null,
    totpEnabledAt: null,
    totpLastStep: null,
    accessVersion: 0,
    isBreakGlass: false,
    createdAt,
  };
}
