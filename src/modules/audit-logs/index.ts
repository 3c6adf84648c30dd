export { auditAction, AUDIT_ACTIONS, type AuditAction, type AuditOutcome } from './audit-actions.js';
export { AuditLog, type AuditActor, type AuditRecord } from './audit-log.js';
export { AuditLogsModule } from './audit-logs.module.js';
export { AUDIT_LOG_COLUMNS, AuditLogsService } from './audit-logs.service.js';
export { AuditVerification, type ChainReport } from './audit-verification.js';
export { parseHead, type ExportedHead } from './exported-head.js';
export { OperatorAudit, PLATFORM, type OperatorChange } from './operator-audit.js';
export { SYSTEM } from './system-actor.js';
