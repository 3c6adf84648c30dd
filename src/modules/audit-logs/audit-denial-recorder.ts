import { Injectable } from '@nestjs/common';
import { DenialRecorder, type AuditedAction, type DashboardActor } from '../../infrastructure/auth/index.js';
import { isAuditAction } from './audit-actions.js';
import { AuditLog } from './audit-log.js';

/** Leaves an entry when a guard refuses an audited action. */
@Injectable()
export class AuditDenialRecorder extends DenialRecorder {
  constructor(private readonly auditLog: AuditLog) {
    super();
  }

  async recordDenial(actor: DashboardActor, { action }: AuditedAction): Promise<void> {
    if (!isAuditAction(action)) throw new Error(`${action} is not in the catalogue: use auditedAs()`);
    await this.auditLog.recordApart({ action, by: actor, outcome: 'denied' });
  }
}
