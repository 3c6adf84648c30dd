import type { DashboardRole } from '../../../infrastructure/auth/index.js';

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
