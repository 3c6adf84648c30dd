import { auditActions, byUser, inEnvironment } from '../../infrastructure/audit-catalog/index.js';
import { dashboardPermissions, RECENT_ADMIN, SENSITIVE_ADMIN } from '../../infrastructure/auth/index.js';

const KEY = inEnvironment('api_key');

const KEY_ACTIONS = auditActions({
  'key.create': byUser(KEY, 'created/create an API key *'),
  'key.update': byUser(KEY, 'changed/change an API key *'),
  'key.rotate': byUser(KEY, 'rotated/rotate an API key *', 'A successor with the same name was issued.'),
  'key.end': byUser(KEY, 'ended/end an API key *'),
});

declare module '../../infrastructure/audit-catalog/index.js' {
  interface AuditActions extends Record<keyof typeof KEY_ACTIONS, never> {}
}

export const KEY_PERMISSIONS = dashboardPermissions({
  listApiKeys: { role: 'member' },
  createApiKey: { ...SENSITIVE_ADMIN, action: 'key.create' },
  updateApiKey: { ...SENSITIVE_ADMIN, action: 'key.update' },
  rotateApiKey: { ...SENSITIVE_ADMIN, action: 'key.rotate' },
  endApiKey: { ...RECENT_ADMIN, action: 'key.end' },
});
