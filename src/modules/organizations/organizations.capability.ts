import { auditActions, byOperator, byUser } from '../../infrastructure/audit-catalog/index.js';
import { dashboardPermissions, SENSITIVE_OWNER } from '../../infrastructure/auth/index.js';
import { menuEntries } from '../../infrastructure/pages/index.js';

const ORGANIZATION_ACTIONS = auditActions({
  'account.create': byOperator('account', 'created/create an organization *'),
  'account.activate': byUser('account', 'activated/activate the account of the organization (*)'),
  'account.update': byUser('account', 'changed/change a setting of the organization (*)'),
  'account.logo_update': byUser('account', 'changed/change the logo of the app'),
});

declare module '../../infrastructure/audit-catalog/index.js' {
  interface AuditActions extends Record<keyof typeof ORGANIZATION_ACTIONS, never> {}
}

export const ORGANIZATION_PERMISSIONS = dashboardPermissions({
  getOrganization: { role: 'member' },
  updateOrganization: { ...SENSITIVE_OWNER, action: 'account.update' },
  activateOrganization: { role: 'owner', action: 'account.activate' },
  updateOrganizationLogo: { role: 'admin', action: 'account.logo_update' },
  getOrganizationLogo: { role: 'member' },
});

menuEntries({
  label: 'Settings',
  icon: 'settings',
  path: '/dashboard/organization',
  permission: ORGANIZATION_PERMISSIONS.getOrganization,
  group: 'Organization',
  place: 350,
  words: 'organization logo',
});
