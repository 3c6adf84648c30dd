import { auditActions, byUser, inEnvironment } from '../../infrastructure/audit-catalog/index.js';
import { dashboardPermissions } from '../../infrastructure/auth/index.js';
import { ACCOUNT_MENU, menuEntries } from '../../infrastructure/pages/index.js';

const DEVICE = inEnvironment('device');

const OAUTH_ACTIONS = auditActions({
  'auth.device_approve': byUser(DEVICE, 'approved/approve the request of a device (for the API client *)'),
  'auth.device_deny': byUser(DEVICE, 'denied/deny the request of a device (for the API client *)'),
  'auth.device_revoke': byUser(DEVICE, 'ended/end the access of a device (for the API client *)'),
});

declare module '../../infrastructure/audit-catalog/index.js' {
  interface AuditActions extends Record<keyof typeof OAUTH_ACTIONS, never> {}
}

export const OAUTH_PERMISSIONS = dashboardPermissions({
  getCurrentUser: { token: 'any' },
});

menuEntries(
  {
    label: 'Devices',
    icon: 'smartphone',
    path: '/dashboard/devices',
    group: ACCOUNT_MENU,
    place: 420,
    words: 'cli mcs log in',
  },
  { label: 'Connect a device', icon: 'link', path: '/device', group: ACCOUNT_MENU, place: 430 },
);
