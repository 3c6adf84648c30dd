import { menuEntries } from '../../infrastructure/pages/index.js';
import { REQUEST_LOG_PERMISSIONS } from '../request-logs/index.js';

menuEntries(
  {
    label: 'Overview',
    icon: 'layout-dashboard',
    path: '',
    permission: REQUEST_LOG_PERMISSIONS.listRequestLogs,
    group: 'Activity',
    place: 10,
  },
  {
    label: 'Find or erase',
    labelOfOne: 'Summary',
    tabOf: 'customers',
    icon: 'users',
    path: 'external-users',
    permission: REQUEST_LOG_PERMISSIONS.listRequestLogs,
    place: 205,
    words: 'user delete gdpr privacy forget personal data customer',
  },
);
