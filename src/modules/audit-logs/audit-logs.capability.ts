import { auditActions, byUser } from '../../infrastructure/audit-catalog/index.js';
import { dashboardPermissions } from '../../infrastructure/auth/index.js';
import { menuEntries } from '../../infrastructure/pages/index.js';

const AUDIT_LOG_ACTIONS = auditActions({
  'audit_log.export': byUser('audit_log', 'exported/export the audit log'),
});

declare module '../../infrastructure/audit-catalog/index.js' {
  interface AuditActions extends Record<keyof typeof AUDIT_LOG_ACTIONS, never> {}
}

export const AUDIT_LOG_PERMISSIONS = dashboardPermissions({
  listAuditEntries: { role: 'admin' },
  exportAuditLog: { role: 'admin', action: 'audit_log.export' },
});

menuEntries({
  label: 'Audit log',
  icon: 'rotate-ccw-clock',
  path: '/dashboard/audit-log',
  permission: AUDIT_LOG_PERMISSIONS.listAuditEntries,
  group: 'Organization',
  place: 340,
  words: 'history changes export verify stream siem',
  covers: ['audit-stream'],
});
