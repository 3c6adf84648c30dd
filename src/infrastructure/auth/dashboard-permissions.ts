import type { AuditAction } from '../audit-catalog/index.js';
import { HOUR, MINUTE } from '../time/index.js';
import type { DashboardRole } from './dashboard-roles.js';
import type { Scope } from './scopes.js';

/** The requirements of an operation of the dashboard, and how the operation is audited. */
interface Requirements {
  /**
   * The scope that an access token or API key requires. `any` accepts all of them. If absent, the operation is performed on
   * pages only.
   */
  readonly token?: Scope | 'any';
  /** The minimum role. If absent, all roles are allowed. */
  readonly role?: DashboardRole;
  /** Milliseconds since the login at which the operation is still allowed: see `LOGIN_AGE`. If absent, any login is recent enough. */
  readonly recentLogin?: number;
  /** The audited action, so that denied attempts are recorded too. */
  readonly action?: AuditAction;
}

/** The permission to perform an operation of the dashboard. */
export interface DashboardPermission extends Requirements {
  /** The operation, such as `createUser`. */
  readonly name: string;
}

/** Milliseconds since the login. */
export const LOGIN_AGE = {
  /** For operations that show or change secrets, give roles, or decide how users have to log in. */
  sensitive: 5 * MINUTE,
  /** For the other operations that decide who and what has access. */
  usual: HOUR,
} as const;

/** Operations that decide who and what has access require an admin who logged in within the last hour. */
export const RECENT_ADMIN = { role: 'admin', recentLogin: LOGIN_AGE.usual } as const;
export const SENSITIVE_ADMIN = { role: 'admin', recentLogin: LOGIN_AGE.sensitive } as const;
export const SENSITIVE_OWNER = { role: 'owner', recentLogin: LOGIN_AGE.sensitive } as const;

const permissions = new Map<string, DashboardPermission>();

/**
 * Declares what dashboard users can do in a capability, by operation. Pages, buttons, the navigation and guards read it, and
 * `docs/dashboard-permissions.md` lists all.
 *
 * @throws Error if another capability has an operation of this name
 */
export function dashboardPermissions<const Operations extends Readonly<Record<string, Requirements>>>(
  operations: Operations,
): { readonly [Name in keyof Operations]: DashboardPermission & Operations[Name] } {
  const declared = Object.entries(operations).map(([name, requirements]) => {
    if (permissions.has(name)) throw new Error(`Two operations are called ${name}: rename one of them.`);
    const permission = { name, ...requirements };
    permissions.set(name, permission);
    return [name, permission] as const;
  });
  return Object.fromEntries(declared) as {
    [Name in keyof Operations]: DashboardPermission & Operations[Name];
  };
}

/**
 * Returns the permission for an operation of a capability that the caller must not depend on.
 *
 * @throws Error if there is none
 */
export function permissionOf(operation: string): DashboardPermission {
  const permission = permissions.get(operation);
  if (!permission) throw new Error(`No capability declares the operation ${operation}.`);
  return permission;
}

/** The permission for an operation of the dashboard API, which says what access tokens and API keys require. */
export type ApiPermission = DashboardPermission & Required<Pick<DashboardPermission, 'token'>>;

/** Returns what an operation of the dashboard API requires, in words. */
export function accessInWords({ token, role }: ApiPermission): string {
  const roles = role === undefined ? 'any role' : `the role \`${role}\` or a higher one`;
  const scope = token === 'any' ? '' : ` with the scope \`${token}\``;
  return `Requires an API key or an access token${scope}, or a login. Users need ${roles}.`;
}

/** Everything that dashboard users can do, for the documentation. */
export function listPermissions(): DashboardPermission[] {
  return [...permissions.values()];
}
