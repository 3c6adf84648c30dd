import { auditActions, byUser, inEnvironment } from '../../infrastructure/audit-catalog/index.js';
import { dashboardPermissions } from '../../infrastructure/auth/index.js';
import { menuEntries } from '../../infrastructure/pages/index.js';

const REQUEST_LOG = inEnvironment('request_log');
const WEBHOOK_ENDPOINT = inEnvironment('webhook_endpoint');

const REQUEST_LOG_ACTIONS = auditActions({
  'request_log.export': byUser(REQUEST_LOG, 'exported/export the request log'),
  'webhook.resend': byUser(
    WEBHOOK_ENDPOINT,
    'sent/send deliveries (to *) again',
    'The changes say which: one, several, or all that the endpoint had missed since a time.',
  ),
});

declare module '../../infrastructure/audit-catalog/index.js' {
  interface AuditActions extends Record<keyof typeof REQUEST_LOG_ACTIONS, never> {}
}

export const REQUEST_LOG_PERMISSIONS = dashboardPermissions({
  listRequestLogs: { token: 'request_logs:read' },
  getRequestLog: { token: 'request_logs:read' },
  exportRequestLogs: { action: 'request_log.export' },
  redeliverWebhook: { token: 'webhook_endpoints:write', role: 'member', action: 'webhook.resend' },
});

menuEntries({
  label: 'Request logs',
  icon: 'scroll-text',
  path: 'request-logs',
  permission: REQUEST_LOG_PERMISSIONS.listRequestLogs,
  group: 'Activity',
  place: 20,
  words: 'api calls errors',
});
