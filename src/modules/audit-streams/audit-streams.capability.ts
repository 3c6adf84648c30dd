import { auditActions, byUser } from '../../infrastructure/audit-catalog/index.js';
import { dashboardPermissions, LOGIN_AGE } from '../../infrastructure/auth/index.js';

const AUDIT_STREAM_ACTIONS = auditActions({
  'audit_stream.update': byUser(
    'audit_stream',
    'changed/change the stream of the audit log',
    'This includes adding and resuming it.',
  ),
  'audit_stream.skip': byUser(
    'audit_stream',
    'skipped/skip an entry in the stream of the audit log',
    'The receiver refused the entry.',
  ),
  'audit_stream.remove': byUser('audit_stream', 'removed/remove the stream of the audit log'),
});

declare module '../../infrastructure/audit-catalog/index.js' {
  interface AuditActions extends Record<keyof typeof AUDIT_STREAM_ACTIONS, never> {}
}

export const AUDIT_STREAM_PERMISSIONS = dashboardPermissions({
  getAuditStream: { role: 'admin' },
  updateAuditStream: { role: 'owner', recentLogin: LOGIN_AGE.sensitive, action: 'audit_stream.update' },
  skipAuditStreamEntry: { role: 'owner', recentLogin: LOGIN_AGE.usual, action: 'audit_stream.skip' },
  deleteAuditStream: { role: 'owner', recentLogin: LOGIN_AGE.usual, action: 'audit_stream.remove' },
});
