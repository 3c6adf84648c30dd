import {
  INSUFFICIENT_ROLE,
  type DashboardActor,
  type DashboardPrincipal,
  type DashboardRole,
} from '../../infrastructure/auth/index.js';
import type { AuditAction } from '../../infrastructure/audit-catalog/index.js';
import type { AuditLog } from '../audit-logs/index.js';

export const ROLE_NAMES: Readonly<Record<DashboardRole, string>> = {
  owner: 'Owner',
  admin: 'Admin',
  member: 'Member',
  viewer: 'Viewer',
};

/** The rights of each role. Each role has all rights of the roles after it. */
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

/**
 * Only owners may add, change or remove owners, and grant their role.
 *
 * @param roles the roles of the user: their own, and the one of a grant that is in force
 */
export function mayManage(actor: DashboardPrincipal, ...roles: (DashboardRole | undefined)[]): boolean {
  return actor.role === 'owner' || !roles.includes('owner');
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

/**
 * Records that the role of the actor, the first parameter of the method, does not allow what was attempted. Stands before
 * `@Transactional()`: the rollback would discard the entry.
 *
 * @throws ApiError INSUFFICIENT_ROLE
 */
export function RecordsDenial(action: AuditAction): MethodDecorator {
  return (_prototype, _name, descriptor: PropertyDescriptor) => {
    const method = descriptor.value as (...values: unknown[]) => Promise<unknown>;
    descriptor.value = async function (
      this: { auditLog: AuditLog },
      actor: DashboardActor,
      ...rest: unknown[]
    ) {
      try {
        return await method.call(this, actor, ...rest);
      } catch (error) {
        if (!(error instanceof RoleChangeDenied)) throw error;
        await this.auditLog.record({ action, actor, target: { name: error.target }, outcome: 'denied' });
        throw INSUFFICIENT_ROLE.error(error.message, { field: 'role' });
      }
    };
  };
}
