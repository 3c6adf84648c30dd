import { auditActions, byUserOrClient, inEnvironment } from '../../infrastructure/audit-catalog/index.js';
import { dashboardPermissions, RECENT_ADMIN } from '../../infrastructure/auth/index.js';

const EXTERNAL_USER = inEnvironment('external_user');

const EXTERNAL_USER_ACTIONS = auditActions({
  'external_user.erase': byUserOrClient(
    EXTERNAL_USER,
    'requested to erase/erase an external user *',
    'The entry does not name the external user.',
  ),
});

declare module '../../infrastructure/audit-catalog/index.js' {
  interface AuditActions extends Record<keyof typeof EXTERNAL_USER_ACTIONS, never> {}
}

export const EXTERNAL_USER_PERMISSIONS = dashboardPermissions({
  eraseExternalUser: { ...RECENT_ADMIN, action: 'external_user.erase' },
});
