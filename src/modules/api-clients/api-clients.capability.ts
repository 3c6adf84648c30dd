import { auditActions, byOperator, byUser, inEnvironment } from '../../infrastructure/audit-catalog/index.js';
import { dashboardPermissions, SENSITIVE_ADMIN, SENSITIVE_OWNER } from '../../infrastructure/auth/index.js';
import { menuEntries } from '../../infrastructure/pages/index.js';

const SECRET = inEnvironment('secret');
const API_CLIENT = inEnvironment('api_client');

const API_CLIENT_ACTIONS = auditActions({
  'secret.view': byUser(SECRET, 'viewed/view an API secret (of the API client *)'),
  'secret.rotate': byUser(
    SECRET,
    'rotated/rotate an API secret (of the API client *)',
    'This includes using the new one to sign webhooks.',
  ),
  'client.create': byOperator(API_CLIENT, 'created/create an API client *'),
  'client.update': byUser(
    API_CLIENT,
    'changed/change an API client *',
    'This includes enabling an operation, and what the secret is accepted for.',
  ),
});

declare module '../../infrastructure/audit-catalog/index.js' {
  interface AuditActions extends Record<keyof typeof API_CLIENT_ACTIONS, never> {}
}

export const API_CLIENT_PERMISSIONS = dashboardPermissions({
  listApiClients: { role: 'member' },
  updateApiClient: { role: 'admin', action: 'client.update' },
  viewApiSecret: { ...SENSITIVE_ADMIN, action: 'secret.view' },
  restrictApiSecret: { ...SENSITIVE_OWNER, action: 'client.update' },
  rotateApiSecret: { ...SENSITIVE_ADMIN, action: 'secret.rotate' },
  activateApiSecret: { ...SENSITIVE_ADMIN, action: 'secret.rotate' },
});

menuEntries({
  label: 'API credentials',
  icon: 'key-round',
  path: 'api-credentials',
  permission: API_CLIENT_PERMISSIONS.listApiClients,
  group: 'Integration',
  place: 120,
  words: 'rotate secret api key scope client id',
});
