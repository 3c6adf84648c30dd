import { Injectable } from '@nestjs/common';
import {
  RefusalRecorder,
  type AuditedAction,
  type DashboardCaller,
} from '../../infrastructure/auth/index.js';
import { isAuditAction } from './audit-actions.js';
import { AuditLog } from './audit-log.js';

/** Leaves an entry when a guard refuses an audited action. */
@Injectable()
export class AuditRefusalRecorder extends RefusalRecorder {
  constructor(private readonly auditLog: AuditLog) {
    super();
  }

  async recordRefusal(caller: DashboardCaller, { action }: AuditedAction): Promise<void> {
    if (!isAuditAction(action)) throw new Error(`${action} is not in the catalogue: use auditedAs()`);
    await this.auditLog.recordApart({ action, by: caller, outcome: 'denied' });
  }
}
