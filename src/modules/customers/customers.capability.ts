import { dashboardPermissions } from '../../infrastructure/auth/index.js';
import { menuEntries } from '../../infrastructure/pages/index.js';

export const CUSTOMER_PERMISSIONS = dashboardPermissions({
  listCustomers: {},
});

menuEntries({
  label: 'Customers',
  icon: 'users',
  path: 'customers',
  permission: CUSTOMER_PERMISSIONS.listCustomers,
  group: 'Activity',
  place: 40,
  words: 'end users external',
  covers: ['external-users', 'merchant-accounts', 'sign-in-links'],
});
