import { Injectable } from '@nestjs/common';
import type { DashboardCaller } from '../../../infrastructure/auth/index.js';
import { AttemptLimits, type AttemptLimit } from '../../../infrastructure/rate-limiting/index.js';
import { MINUTE, SECOND } from '../../../infrastructure/time/index.js';
import { AuditLog, type AuditAction } from '../../audit-logs/index.js';
import { tooManyAttempts } from '../too-many-attempts.js';
import { DashboardUsersRepository } from '../users/dashboard-users.repository.js';
import { PasswordCheck } from './password-check.js';

/** Asks who is logged in for the password once more, before what nobody at a borrowed browser may do. */
@Injectable()
export class PasswordConfirmation {
  private readonly ofUser: AttemptLimit;

  constructor(
    limits: AttemptLimits,
    private readonly users: DashboardUsersRepository,
    private readonly passwords: PasswordCheck,
    private readonly auditLog: AuditLog,
  ) {
    this.ofUser = limits.limit({
      name: 'password-confirmation',
      attempts: 10,
      seconds: (15 * MINUTE) / SECOND,
    });
  }

  /**
   * @param action leaves an entry in the audit log when the password was wrong
   * @throws ApiError RATE_LIMIT_EXCEEDED
   */
  async confirm(caller: DashboardCaller, password: string, action?: AuditAction): Promise<boolean> {
    const wait = await this.ofUser.count(caller.userId);
    if (wait !== undefined) {
      await this.record(caller, action, 'denied');
      throw tooManyAttempts(wait);
    }
    const user = await this.users.find(caller.userId);
    const isRight = await this.passwords.isRight(user?.passwordHash, password);
    if (isRight) await this.ofUser.forget(caller.userId);
    else await this.record(caller, action, 'failure');
    return isRight;
  }

  private async record(
    caller: DashboardCaller,
    action: AuditAction | undefined,
    outcome: 'failure' | 'denied',
  ): Promise<void> {
    if (action) await this.auditLog.record({ action, by: caller, target: { name: caller.email }, outcome });
  }
}
