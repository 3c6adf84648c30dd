import type { DashboardActor } from './dashboard-actor.js';

/** An action of the audit log's catalogue. Made by `auditedAs` of the audit-logs module, which knows them. */
export interface AuditedAction {
  readonly action: string;
}

/** Port: keeps that somebody tried an audited action that they may not do. */
export abstract class DenialRecorder {
  abstract recordDenial(actor: DashboardActor, action: AuditedAction): Promise<void>;
}
