import { Injectable } from '@nestjs/common';
import type { DashboardActor, DashboardPrincipal, DashboardRole } from '../../infrastructure/auth/index.js';
import { INSUFFICIENT_ROLE } from '../../infrastructure/errors/index.js';
import { AuditLog, type AuditAction } from '../audit-logs/index.js';

export const ROLE_NAMES: Readonly<Record<DashboardRole, string>> = {
  owner: 'Owner',
  admin: 'Admin',
  member: 'Member',
  viewer: 'Viewer',
};

/** What each role may do. Each role has all rights of the roles after it. */
export const ROLE_RIGHTS: Readonly<Record<DashboardRole, string>> = {
  owner: 'Manages owners, requires two-factor authentication, and activates the organization.',
  admin: 'Manages users, API credentials, single sign-on, merchants and the logo, and reads the audit log.',
  member: 'Manages webhook endpoints, and sees API credentials (without secrets), merchants and settings.',
  viewer: 'Looks at request logs, events and webhook endpoints.',
};

/** Returns the name of a role and what it may do. */
export function roleInWords(role: DashboardRole): string {
  const rights = ROLE_RIGHTS[role];
  return `${ROLE_NAMES[role]}: ${rights.charAt(0).toLowerCase()}${rights.slice(1)}`;
}

/** Only owners may add, change or remove owners, and grant their role. */
export function mayManage(actor: DashboardPrincipal, role: DashboardRole): boolean {
  return actor.role === 'owner' || role !== 'owner';
}

/** The actor's role does not allow this change to this user. A guard cannot know this before the user is read. */
export class RoleChangeDenied extends Error {
  /** @param target the user's email */
  constructor(
    sentence: string,
    readonly target: string,
  ) {
    super(sentence);
  }
}

/** Records attempts that the actor's role does not allow. */
@Injectable()
export class RoleDenials {
  constructor(private readonly auditLog: AuditLog) {}

  /**
   * Runs the work, which opens a transaction. Records a denial after that transaction was rolled back, because the
   * rollback would otherwise discard the entry.
   *
   * @throws ApiError INSUFFICIENT_ROLE
   */
  async runRecordingDenial<T>(
    action: AuditAction,
    actor: DashboardActor,
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RoleChangeDenied)) throw error;
      await this.auditLog.record({ action, actor, target: { name: error.target }, outcome: 'denied' });
      throw INSUFFICIENT_ROLE.error(error.message);
    }
  }
}
