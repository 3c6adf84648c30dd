import { auditActions, byUser, inEnvironment } from '../../infrastructure/audit-catalog/index.js';
import { dashboardPermissions } from '../../infrastructure/auth/index.js';
import { menuEntries } from '../../infrastructure/pages/index.js';

const MERCHANT = inEnvironment('merchant');

const MERCHANT_ACTIONS = auditActions({
  'merchant.activate': byUser(MERCHANT, 'activated/activate a merchant *', 'Users can choose it.'),
  'merchant.hide': byUser(MERCHANT, 'hid/hide a merchant *', 'Users cannot choose it.'),
  'merchant.export': byUser(MERCHANT, 'exported/export the list of merchants'),
});

declare module '../../infrastructure/audit-catalog/index.js' {
  interface AuditActions extends Record<keyof typeof MERCHANT_ACTIONS, never> {}
}

export const MERCHANT_PERMISSIONS = dashboardPermissions({
  listMerchants: { role: 'member' },
  exportMerchants: { role: 'admin', action: 'merchant.export' },
  hideMerchant: { role: 'admin', action: 'merchant.hide' },
  activateMerchant: { role: 'admin', action: 'merchant.activate' },
});

menuEntries({
  label: 'Merchants',
  icon: 'store',
  path: 'merchants',
  permission: MERCHANT_PERMISSIONS.listMerchants,
  group: 'Integration',
  place: 130,
});
