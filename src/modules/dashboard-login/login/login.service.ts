import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Transactional } from '../../../infrastructure/database/index.js';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import type { RequestOrigin } from '../../../infrastructure/http/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import { tooManyAttempts } from '../../../infrastructure/rate-limiting/index.js';
import { AuditLog, type AuditOutcome } from '../../audit-logs/index.js';
import { DashboardUsersRepository, type DashboardUser } from '../../dashboard-users/index.js';
import { AccountEmails } from '../account-emails.js';
import type { LoginBrowser } from '../browsers/login-browser.js';
import { KnownBrowsersService } from '../browsers/known-browsers.service.js';
import { PasswordCheck } from '../passwords/password-check.js';
import { RefusedAttempts } from '../refused-attempts.js';
import type { SessionStage } from '../sessions/dashboard-session.entity.js';
import { DashboardSessionsService, type OpenedSession } from '../sessions/dashboard-sessions.service.js';
import { LoginLimits } from './login-limits.js';

/** Milliseconds; well above the time for a password hash (40) and an audit log entry (10). */
const FAILURE_INTERVAL = 400;
/** Milliseconds that an attempt waits if many attempts on the account have failed. */
const DELAY = 3 * SECOND;

export interface LoginAttempt extends LoginBrowser {
  readonly email: string;
  readonly password: string;
  /** The token of the browser's current session, which the new session replaces. */
  readonly replacing?: string | undefined;
}

/** The result of a login attempt with the correct password. */
export interface OpenedLogin {
  readonly stage: SessionStage;
  readonly session: OpenedSession;
  /** Whether the login is complete and the user has not logged in with this browser before. */
  readonly isNewBrowser: boolean;
}

/** Logs users in and out. A failure does not show whether the account exists. */
@Injectable()
export class LoginService {
  constructor(
    private readonly limits: LoginLimits,
    private readonly browsers: KnownBrowsersService,
    private readonly users: DashboardUsersRepository,
    private readonly passwords: PasswordCheck,
    private readonly sessions: DashboardSessionsService,
    private readonly emails: AccountEmails,
    private readonly refused: RefusedAttempts,
    private readonly auditLog: AuditLog,
  ) {}

  /**
   * @returns undefined when the email or password is wrong, or the user is disabled
   * @throws ApiError RATE_LIMIT_EXCEEDED
   */
  async logIn(attempt: LoginAttempt): Promise<OpenedLogin | undefined> {
    return maskFailureTiming(() => this.attempt(attempt));
  }

  @Transactional()
  async logOut(actor: DashboardActor, token: string): Promise<void> {
    if (!(await this.sessions.end(token))) return;
    await this.auditLog.record({ action: 'auth.logout', actor, target: { name: actor.email } });
  }

  private async attempt(attempt: LoginAttempt): Promise<OpenedLogin | undefined> {
    const { email, password, origin, browser } = attempt;
    const user = await this.users.findWithPassword(email);
    const isKnown = user !== null && (await this.browsers.knows(user.id, browser));
    const subject = { email, ip: origin.ip, knownBrowser: isKnown ? browser : undefined };
    const { wait, isSlowed } = await this.limits.count(subject);
    if (wait !== undefined) {
      if (user && (await this.refused.isFirst('login', user.id))) await this.record(user, origin, 'denied');
      throw tooManyAttempts(wait);
    }
    if (isSlowed) await pause(DELAY);
    const isPasswordCorrect = await this.passwords.isCorrect(user?.passwordHash, password);
    const opened = user && isPasswordCorrect ? await this.open(user, attempt) : undefined;
    if (user && !opened) await this.record(user, origin, user.disabledAt ? 'denied' : 'failure');
    if (opened) await this.limits.subtract(subject);
    if (opened?.stage === 'complete') await this.limits.forget(subject);
    if (opened?.isNewBrowser) this.emails.sendNewBrowser(email, origin);
    return opened;
  }

  /** Checks again whether the user was disabled or changed the password in the meantime. */
  @Transactional()
  private async open(
    user: DashboardUser,
    { origin, browser, replacing }: LoginAttempt,
  ): Promise<OpenedLogin | undefined> {
    const current = await this.users.lock(user.id);
    if (!current || current.disabledAt || current.passwordHash !== user.passwordHash) return undefined;
    if (replacing !== undefined) await this.sessions.end(replacing);
    const stage = current.totpEnabledAt ? 'second_factor' : 'complete';
    const session = await this.sessions.open(user.id, stage, origin);
    // With a second factor, the second step completes the login and records its outcome.
    if (stage !== 'complete') return { stage, session, isNewBrowser: false };
    const isNewBrowser = await this.browsers.remember(user.id, browser);
    await this.record(user, origin, 'success');
    return { stage, session, isNewBrowser };
  }

  private async record(user: DashboardUser, origin: RequestOrigin, outcome: AuditOutcome): Promise<void> {
    const actor = { ...user, origin };
    await this.auditLog.record({ action: 'auth.login', actor, target: { name: user.email }, outcome });
  }
}

/**
 * Delays a failure (undefined or an error) to a multiple of a fixed time, so that the response time does not
 * reveal which check failed. The timer starts here, not when the request arrives, because a slow request body could
 * otherwise use up the interval.
 */
async function maskFailureTiming<T>(work: () => Promise<T | undefined>): Promise<T | undefined> {
  const startedAt = performance.now();
  let result: T | undefined;
  try {
    result = await work();
    return result;
  } finally {
    if (result === undefined)
      await pause(FAILURE_INTERVAL - ((performance.now() - startedAt) % FAILURE_INTERVAL));
  }
}
