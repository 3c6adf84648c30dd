import {
  auditActions,
  byUser,
  byUserOrService,
  inEnvironment,
} from '../../infrastructure/audit-catalog/index.js';
import { dashboardPermissions, SENSITIVE_ADMIN } from '../../infrastructure/auth/index.js';
import { menuEntries } from '../../infrastructure/pages/index.js';

const WEBHOOK_ENDPOINT = inEnvironment('webhook_endpoint');

const ENDPOINT_ACTIONS = auditActions({
  'webhook.create': byUser(WEBHOOK_ENDPOINT, 'created/create a webhook endpoint *'),
  'webhook.update': byUserOrService(
    WEBHOOK_ENDPOINT,
    'changed/change a webhook endpoint *',
    'This includes pausing, resuming, disabling and enabling it.',
  ),
  'webhook.delete': byUser(WEBHOOK_ENDPOINT, 'deleted/delete a webhook endpoint *'),
  'webhook.view_key': byUser(WEBHOOK_ENDPOINT, 'viewed/view the signing key of the webhook endpoint *'),
  'webhook.rotate_key': byUser(
    WEBHOOK_ENDPOINT,
    'rotated/rotate the signing key of the webhook endpoint *',
    'This includes using the new one first.',
  ),
});

declare module '../../infrastructure/audit-catalog/index.js' {
  interface AuditActions extends Record<keyof typeof ENDPOINT_ACTIONS, never> {}
}

export const READ_ENDPOINTS = { token: 'webhook_endpoints:read' } as const;
export const CHANGE_ENDPOINTS = { token: 'webhook_endpoints:write', role: 'member' } as const;

export const ENDPOINT_PERMISSIONS = dashboardPermissions({
  listWebhookEndpoints: READ_ENDPOINTS,
  getWebhookEndpoint: READ_ENDPOINTS,
  createWebhookEndpoint: { ...CHANGE_ENDPOINTS, action: 'webhook.create' },
  updateWebhookEndpoint: { ...CHANGE_ENDPOINTS, action: 'webhook.update' },
  deleteWebhookEndpoint: { ...CHANGE_ENDPOINTS, action: 'webhook.delete' },
  rotateWebhookEndpointKey: { ...CHANGE_ENDPOINTS, action: 'webhook.rotate_key' },
  activateWebhookEndpointKey: { role: 'member', action: 'webhook.rotate_key' },
  viewWebhookEndpointKey: { ...SENSITIVE_ADMIN, action: 'webhook.view_key' },
});

menuEntries({
  label: 'Webhook endpoints',
  icon: 'webhook',
  path: 'webhook-endpoints',
  permission: ENDPOINT_PERMISSIONS.listWebhookEndpoints,
  group: 'Integration',
  place: 110,
  words: 'receiver url test pause signature',
});
