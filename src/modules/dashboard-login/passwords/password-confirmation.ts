import { Injectable } from '@nestjs/common';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import { AttemptLimitsRepository, tooManyAttempts } from '../../../infrastructure/rate-limiting/index.js';
import { MINUTE } from '../../../infrastructure/time/index.js';
import { AuditLog, type AuditAction } from '../../audit-logs/index.js';
import { DashboardUsersRepository } from '../../dashboard-users/index.js';
import { RefusedAttempts } from '../refused-attempts.js';
import { PasswordCheck } from './password-check.js';

/** Asks a logged-in user for the password again, before changes that must not be possible in a borrowed browser. */
@Injectable()
export class PasswordConfirmation {
  private readonly perUser = this.limits.limit({
    name: 'password-confirmation',
    attempts: 10,
    within: 15 * MINUTE,
  });

  constructor(
    private readonly limits: AttemptLimitsRepository,
    private readonly users: DashboardUsersRepository,
    private readonly passwords: PasswordCheck,
    private readonly refused: RefusedAttempts,
    private readonly auditLog: AuditLog,
  ) {}

  /**
   * @param action recorded in the audit log when the password is wrong
   * @throws ApiError RATE_LIMIT_EXCEEDED
   */
  async confirm(actor: DashboardActor, password: string, action?: AuditAction): Promise<boolean> {
    const wait = await this.perUser.count(actor.userId);
    if (wait !== undefined) {
      if (await this.refused.isFirst('password', actor.userId)) await this.record(actor, action, 'denied');
      throw tooManyAttempts(wait);
    }
    const user = await this.users.find(actor.userId);
    const isCorrect = await this.passwords.isCorrect(user?.passwordHash, password);
    if (isCorrect) await this.perUser.forget(actor.userId);
    else await this.record(actor, action, 'failure');
    return isCorrect;
  }

  private async record(
    actor: DashboardActor,
    action: AuditAction | undefined,
    outcome: 'failure' | 'denied',
  ): Promise<void> {
    if (action) await this.auditLog.record({ action, actor, target: { name: actor.email }, outcome });
  }
}
