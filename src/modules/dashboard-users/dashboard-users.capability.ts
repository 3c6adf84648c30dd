import { auditActions, byUser } from '../../infrastructure/audit-catalog/index.js';
import { dashboardPermissions, RECENT_ADMIN, SENSITIVE_ADMIN } from '../../infrastructure/auth/index.js';
import { menuEntries } from '../../infrastructure/pages/index.js';

const USER_ACTIONS = auditActions({
  'user.add': byUser('user', 'added/add a user *'),
  'user.invite': byUser('user', 'invited/invite a user * again', 'The user had not accepted the invitation.'),
  'user.update': byUser('user', 'changed/change a user *', 'This includes disabling and enabling.'),
  'user.unlock': byUser('user', 'unlocked/unlock a user *', 'This lifts the limits on failed logins.'),
  'user.remove': byUser('user', 'removed/remove a user *'),
  'access_grant.create': byUser('access_grant', 'created/create an access grant (for *)'),
  'access_grant.revoke': byUser('access_grant', 'revoked/revoke an access grant (for *)'),
});

declare module '../../infrastructure/audit-catalog/index.js' {
  interface AuditActions extends Record<keyof typeof USER_ACTIONS, never> {}
}

export const USER_PERMISSIONS = dashboardPermissions({
  listUsers: { role: 'admin' },
  createUser: { ...SENSITIVE_ADMIN, action: 'user.add' },
  updateUser: { ...SENSITIVE_ADMIN, action: 'user.update' },
  deleteUser: { ...RECENT_ADMIN, action: 'user.remove' },
  listAccessGrants: { role: 'admin' },
  createAccessGrant: { ...SENSITIVE_ADMIN, action: 'access_grant.create' },
  revokeAccessGrant: { ...RECENT_ADMIN, action: 'access_grant.revoke' },
});

menuEntries(
  {
    label: 'Users',
    icon: 'users',
    path: '/dashboard/users',
    permission: USER_PERMISSIONS.listUsers,
    group: 'Organization',
    place: 310,
    words: 'invite colleague role member team',
    covers: ['access-grants'],
  },
  {
    label: 'Access grants',
    icon: 'user-check',
    path: '/dashboard/access-grants',
    permission: USER_PERMISSIONS.listAccessGrants,
    place: 520,
  },
);
