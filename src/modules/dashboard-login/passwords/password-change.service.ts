import { Injectable } from '@nestjs/common';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import { Transactional } from '../../../infrastructure/database/index.js';
import { AuditLog } from '../../audit-logs/index.js';
import { DashboardUsersRepository, hashPassword } from '../../dashboard-users/index.js';
import { DashboardSessionsService } from '../sessions/dashboard-sessions.service.js';
import { PasswordConfirmation } from './password-confirmation.js';
import { AccountEmails } from '../account-emails.js';
import { PasswordLinksRepository } from './password-links.repository.js';

/** Changes the password of a logged-in user who knows the current password. */
@Injectable()
export class PasswordChangeService {
  constructor(
    private readonly confirmation: PasswordConfirmation,
    private readonly links: PasswordLinksRepository,
    private readonly users: DashboardUsersRepository,
    private readonly sessions: DashboardSessionsService,
    private readonly emails: AccountEmails,
    private readonly auditLog: AuditLog,
  ) {}

  /**
   * Also ends the user's other sessions, and deletes a pending link to set a password.
   *
   * @returns whether the current password was right
   * @throws ApiError RATE_LIMIT_EXCEEDED
   */
  async change(actor: DashboardActor, currentPassword: string, newPassword: string): Promise<boolean> {
    if (!(await this.confirmation.confirm(actor, currentPassword, 'auth.password_change'))) return false;
    await this.set(actor, await hashPassword(newPassword));
    this.emails.sendChanged(actor.email);
    return true;
  }

  @Transactional()
  private async set(actor: DashboardActor, passwordHash: string): Promise<void> {
    const { userId, email, credential } = actor;
    await this.users.lock(userId);
    await this.users.setPassword(userId, passwordHash);
    await this.links.deleteLinkOf(userId);
    if (credential.kind === 'session') await this.sessions.endOthers(userId, credential.sessionId);
    await this.auditLog.record({ action: 'auth.password_change', actor, target: { name: email } });
  }
}
