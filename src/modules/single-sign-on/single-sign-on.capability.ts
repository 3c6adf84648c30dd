import { auditActions, byUser, byUserOrService } from '../../infrastructure/audit-catalog/index.js';
import { dashboardPermissions, RECENT_ADMIN, SENSITIVE_ADMIN } from '../../infrastructure/auth/index.js';
import { menuEntries } from '../../infrastructure/pages/index.js';

const SSO_ACTIONS = auditActions({
  'auth.provider_link': byUser(
    'user',
    'was/be linked to an account at the identity provider',
    'This happens at the first login through single sign-on.',
  ),
  'auth.provider_unlink': byUser(
    'user',
    'unlinked/unlink a user from an account at the identity provider',
    'The next login links the user again.',
  ),
  'sso.add': byUser('sso_configuration', 'added/add a single sign-on configuration *'),
  'sso.update': byUserOrService('sso_configuration', 'changed/change a single sign-on configuration *'),
  'sso.enable': byUser('sso_configuration', 'enabled/enable a single sign-on configuration *'),
  'sso.disable': byUser('sso_configuration', 'disabled/disable a single sign-on configuration *'),
  'sso.settings_update': byUser(
    'account',
    'changed/change the single sign-on settings',
    'They cover who must use it, new users, roles and two factors.',
  ),
});

declare module '../../infrastructure/audit-catalog/index.js' {
  interface AuditActions extends Record<keyof typeof SSO_ACTIONS, never> {}
}

export const SSO_PERMISSIONS = dashboardPermissions({
  listSsoConfigurations: { role: 'admin' },
  getSsoConfiguration: { role: 'admin' },
  createSsoConfiguration: { ...RECENT_ADMIN, action: 'sso.add' },
  updateSsoConfiguration: { ...SENSITIVE_ADMIN, action: 'sso.update' },
  enableSsoConfiguration: { ...SENSITIVE_ADMIN, action: 'sso.enable' },
  disableSsoConfiguration: { ...SENSITIVE_ADMIN, action: 'sso.disable' },
});

menuEntries({
  label: 'Single sign-on',
  icon: 'shield-check',
  path: '/dashboard/single-sign-on',
  permission: SSO_PERMISSIONS.listSsoConfigurations,
  group: 'Organization',
  place: 330,
  words: 'sso saml openid oidc okta entra',
});
