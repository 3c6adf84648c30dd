import { Injectable } from '@nestjs/common';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import {
  doneAfterwards,
  Transaction,
  Transactional,
  unlessOwnFailure,
} from '../../../infrastructure/database/index.js';
import { lazy } from '../../../infrastructure/lazy-values/index.js';
import { AttemptLimitsRepository, tooManyAttempts } from '../../../infrastructure/rate-limiting/index.js';
import { MINUTE } from '../../../infrastructure/time/index.js';
import type { AuditAction } from '../../../infrastructure/audit-catalog/index.js';
import {
  DashboardUsersRepository,
  generatePassword,
  hashPassword,
  matchesHash,
} from '../../dashboard-users/index.js';
import { AccountEmails, AccountLog } from '../account-emails.js';
import { DashboardSessionsService } from '../sessions/dashboard-sessions.service.js';
import { PasswordLink } from './password-link.entity.js';

@Injectable()
export class PasswordsService {
  private readonly confirmations = this.limits.limit('password-confirmation', {
    attempts: 10,
    within: 15 * MINUTE,
  });
  private readonly dummy = lazy(() => hashPassword(generatePassword()));

  constructor(
    private readonly limits: AttemptLimitsRepository,
    private readonly transaction: Transaction,
    private readonly users: DashboardUsersRepository,
    private readonly sessions: DashboardSessionsService,
    private readonly emails: AccountEmails,
    private readonly log: AccountLog,
  ) {}

  /**
   * Compares a password with a hash. Takes equally long if there is no hash.
   *
   * @param passwordHash undefined or null when there is no account or no password yet
   */
  async isCorrect(passwordHash: string | null | undefined, password: string): Promise<boolean> {
    const dummy = await this.dummy();
    const matches = await matchesHash(passwordHash ?? dummy, password);
    return matches && typeof passwordHash === 'string';
  }

  /**
   * Checks the password of a logged-in user, before changes that must not be possible in a borrowed browser.
   *
   * @param action recorded in the audit log when the password is wrong
   * @returns the hash that the password was compared with; undefined if it is wrong
   * @throws ApiError RATE_LIMIT_EXCEEDED
   */
  async confirm(actor: DashboardActor, password: string, action: AuditAction): Promise<string | undefined> {
    const { userId } = actor;
    const wait = await this.confirmations.count(userId);
    if (wait !== undefined) {
      await this.log.recordRefusal('password', userId, action, actor);
      throw tooManyAttempts(wait);
    }
    return unlessOwnFailure(
      () => this.confirmations.subtract(userId),
      async () => {
        const hash = (await this.users.find(userId))?.passwordHash ?? undefined;
        const isCorrect = await this.isCorrect(hash, password);
        if (isCorrect) await doneAfterwards(() => this.confirmations.forget(userId));
        else await this.log.record(action, actor, 'failure');
        return isCorrect ? hash : undefined;
      },
    );
  }

  /**
   * Changes the password of a logged-in user who knows the current password. Also ends the user's other sessions, and deletes
   * a pending link to set a password.
   *
   * @returns whether the current password was right
   * @throws ApiError RATE_LIMIT_EXCEEDED
   */
  async change(actor: DashboardActor, currentPassword: string, newPassword: string): Promise<boolean> {
    const currentHash = await this.confirm(actor, currentPassword, 'auth.password_change');
    return currentHash !== undefined && this.replace(actor, currentHash, await hashPassword(newPassword));
  }

  @Transactional()
  private async replace(actor: DashboardActor, currentHash: string, passwordHash: string): Promise<boolean> {
    const { userId } = actor;
    const { user, session } = await this.sessions.lockUserOf(actor);
    if (user.passwordHash !== currentHash) return false;
    await this.users.setPassword(userId, passwordHash);
    await this.transaction.manager.delete(PasswordLink, { userId });
    await this.emails.discardLinks(userId);
    await this.emails.sendNotice(userId, 'passwordChanged');
    await this.sessions.endAll(userId, session.id);
    await this.log.record('auth.password_change', actor);
    return true;
  }
}
