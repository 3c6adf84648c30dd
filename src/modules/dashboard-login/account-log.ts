import { Injectable } from '@nestjs/common';
import { AttemptLimitsRepository } from '../../infrastructure/rate-limiting/index.js';
import { HOUR } from '../../infrastructure/time/index.js';
import { AuditLog, type AuditAction, type AuditActor, type AuditOutcome } from '../audit-logs/index.js';

/** Records in the audit log what users do with their own accounts. */
@Injectable()
export class AccountLog {
  private readonly refusals = this.limits.limit('refused-attempts', { attempts: 1, within: HOUR });

  constructor(
    private readonly limits: AttemptLimitsRepository,
    private readonly auditLog: AuditLog,
  ) {}

  async record(action: AuditAction, actor: AuditActor, outcome: AuditOutcome = 'success'): Promise<void> {
    await this.auditLog.record({ action, actor, target: { name: actor.email }, outcome });
  }

  /**
   * Records an attempt beyond a limit. One entry stands for all refused attempts of this kind on the account within an hour,
   * because otherwise anyone could fill the log.
   */
  async recordRefusal(
    kind: 'login' | 'second factor' | 'password',
    userId: string,
    action: AuditAction,
    actor: AuditActor,
  ): Promise<void> {
    const isFirst = (await this.refusals.count(`${kind} ${userId}`)) === undefined;
    if (isFirst) await this.record(action, actor, 'denied');
  }
}
