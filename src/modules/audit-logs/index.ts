export type { AuditOutcome } from './audit-outcome.js';
export { meaningOf } from './audit-sentences.js';
export { changesBetween } from './audit-log.js';
export { AUDIT_LOG_COLUMNS } from './audit-chain.js';
export {
  actorOf,
  API_KEY_EMAIL,
  AuditLog,
  CurrentKeys,
  CurrentLogins,
  CurrentRoles,
  CurrentTokens,
  OPERATOR,
  OperatorAudit,
  PLATFORM,
  SYSTEM,
  type AuditActor,
  type AuditRecord,
  type OperatorChange,
} from './audit-log.js';
export type { AuditLogEntry } from './audit-log-entry.entity.js';
export { AuditLogsModule } from './audit-logs.module.js';
export { AuditLogsService } from './audit-logs.service.js';
export { AuditVerification, parseHead, type ChainReport, type ExportedHead } from './audit-verification.js';
