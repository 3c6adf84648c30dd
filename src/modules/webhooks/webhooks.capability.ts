import { dashboardPermissions } from '../../infrastructure/auth/index.js';
import { menuEntries } from '../../infrastructure/pages/index.js';
import { REQUEST_LOG_PERMISSIONS } from '../request-logs/index.js';
import { CHANGE_ENDPOINTS, READ_ENDPOINTS } from '../webhook-endpoints/index.js';

export const DELIVERY_PERMISSIONS = dashboardPermissions({
  testWebhookEndpoint: CHANGE_ENDPOINTS,
  recoverWebhooks: { ...CHANGE_ENDPOINTS, action: 'webhook.resend' },
  getWebhookRecovery: READ_ENDPOINTS,
});

menuEntries({
  label: 'Events',
  icon: 'zap',
  path: 'events',
  permission: REQUEST_LOG_PERMISSIONS.listRequestLogs,
  group: 'Activity',
  place: 30,
  words: 'resend retry redeliver',
});
