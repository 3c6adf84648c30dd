import { Injectable } from '@nestjs/common';
import type { DashboardPrincipal } from '../../../infrastructure/auth/index.js';
import { Transactional } from '../../../infrastructure/database/index.js';
import type { RequestOrigin } from '../../../infrastructure/http/index.js';
import { AttemptLimitsRepository, tooManyAttempts } from '../../../infrastructure/rate-limiting/index.js';
import { MINUTE } from '../../../infrastructure/time/index.js';
import { AuditLog, type AuditOutcome } from '../../audit-logs/index.js';
import { DashboardUsersRepository } from '../../dashboard-users/index.js';
import { AccountEmails } from '../account-emails.js';
import type { LoginBrowser } from '../browsers/login-browser.js';
import { KnownBrowsersService } from '../browsers/known-browsers.service.js';
import { RefusedAttempts } from '../refused-attempts.js';
import { SecondFactorService, type SecondFactorProof } from '../second-factor/second-factor.service.js';
import { DashboardSessionsService, type OpenedSession } from '../sessions/dashboard-sessions.service.js';
import { LoginLimits } from './login-limits.js';

/** The second step of a login. Attempts are limited because a 6-digit code can be guessed. */
@Injectable()
export class SecondFactorLoginService {
  private readonly perUser = this.limits.limit({ name: 'second-factor', attempts: 5, within: 15 * MINUTE });

  constructor(
    private readonly limits: AttemptLimitsRepository,
    private readonly loginLimits: LoginLimits,
    private readonly browsers: KnownBrowsersService,
    private readonly users: DashboardUsersRepository,
    private readonly sessions: DashboardSessionsService,
    private readonly secondFactor: SecondFactorService,
    private readonly emails: AccountEmails,
    private readonly refused: RefusedAttempts,
    private readonly auditLog: AuditLog,
  ) {}

  /** Returns the user who completed the first step with this token. */
  async pendingUser(token: string | undefined): Promise<DashboardPrincipal | undefined> {
    return token === undefined ? undefined : this.sessions.awaitingSecondFactor(token);
  }

  /**
   * Checks the second factor and opens a session that grants access.
   *
   * @param token of the session that the first step opened, which ends when the second step succeeds
   * @returns undefined when the proof is wrong, or the first step has ended
   * @throws ApiError RATE_LIMIT_EXCEEDED
   */
  async complete(
    user: DashboardPrincipal,
    token: string,
    proof: SecondFactorProof,
    from: LoginBrowser,
  ): Promise<OpenedSession | undefined> {
    const { origin, browser } = from;
    const wait = await this.perUser.count(user.userId);
    if (wait !== undefined) {
      if (await this.refused.isFirst('second factor', user.userId)) await this.record(user, origin, 'denied');
      throw tooManyAttempts(wait);
    }
    const opened = await this.open(user, token, proof, from);
    if (!opened) {
      await this.record(user, origin, 'failure');
      return undefined;
    }
    const subject = { email: user.email, ip: origin.ip, knownBrowser: browser };
    await Promise.all([this.perUser.forget(user.userId), this.loginLimits.forget(subject)]);
    if (opened.isNewBrowser) this.emails.sendNewBrowser(user.email, origin);
    return opened.session;
  }

  /** Resets the count of failed attempts. */
  async forgetAttempts(userId: string): Promise<void> {
    await this.perUser.forget(userId);
  }

  /** Takes the same lock as a password reset, so that no session opened here survives a concurrent reset. */
  @Transactional()
  private async open(
    user: DashboardPrincipal,
    token: string,
    proof: SecondFactorProof,
    { origin, browser }: LoginBrowser,
  ): Promise<{ session: OpenedSession; isNewBrowser: boolean } | undefined> {
    const current = await this.users.lock(user.userId);
    if (!current || current.disabledAt) return undefined;
    if (!(await this.secondFactor.accepts(current, proof))) return undefined;
    if (!(await this.sessions.end(token))) return undefined;
    const session = await this.sessions.open(user.userId, 'complete', origin);
    const isNewBrowser = await this.browsers.remember(user.userId, browser);
    await this.record(user, origin, 'success');
    return { session, isNewBrowser };
  }

  private async record(
    user: DashboardPrincipal,
    origin: RequestOrigin,
    outcome: AuditOutcome,
  ): Promise<void> {
    const actor = { ...user, origin };
    await this.auditLog.record({ action: 'auth.login', actor, target: { name: user.email }, outcome });
  }
}
