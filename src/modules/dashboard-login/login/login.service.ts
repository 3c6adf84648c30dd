import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { DashboardPrincipal } from '../../../infrastructure/auth/index.js';
import { Transaction, Transactional } from '../../../infrastructure/database/index.js';
import { tooManyAttempts } from '../../../infrastructure/rate-limiting/index.js';
import { Clock, SECOND } from '../../../infrastructure/time/index.js';
import { DashboardUsersRepository, type DashboardUser } from '../../dashboard-users/index.js';
import { AccountEmails, AccountLog } from '../account-emails.js';
import { KnownBrowsersRepository } from '../browsers/known-browsers.repository.js';
import type { Passkey } from '../passkeys/passkey.entity.js';
import { passkeyResponse, PasskeysService, type SignatureCounter } from '../passkeys/passkeys.service.js';
import { PasswordLink } from '../passwords/password-link.entity.js';
import { PasswordsService } from '../passwords/passwords.service.js';
import { SecondFactorService, type SecondFactorProof } from '../second-factor/second-factor.service.js';
import type { SessionStage } from '../sessions/dashboard-session.entity.js';
import {
  DashboardSessionsService,
  type OpenedSession,
  type SessionProof,
} from '../sessions/dashboard-sessions.service.js';
import { ProviderRequirement } from './identity-providers.js';
import type { LoginBrowser } from './login-form.js';
import { LoginLimits } from './login-limits.js';

/** Milliseconds. */
export const PAUSES = {
  /** Well above the time for a password hash (40) and an audit log entry (10). */
  failure: 400,
  /** Before an attempt, if many attempts on the account have failed. */
  slowed: 3 * SECOND,
};

interface LoginRequest extends LoginBrowser {
  /** The token of the browser's current session, which the new session replaces. */
  readonly replacing?: string | undefined;
}

interface LoginAttempt extends LoginRequest {
  readonly email: string;
  readonly password: string;
}

interface PasskeyLogin extends LoginRequest {
  /** What the browser sent after it used a passkey. */
  readonly credential: string;
}

interface LoginFromProvider extends LoginRequest {
  readonly userId: string;
  /** When the user logged in at the provider. */
  readonly authenticatedAt: Date;
  readonly isTwoFactor: boolean;
  /** Whether only the second factor of the user proves that the login is recent. */
  readonly needsSecondFactor: boolean;
}

/** The result of a step that succeeded. */
export interface OpenedLogin {
  readonly stage: SessionStage;
  readonly session: OpenedSession;
}

/**
 * Logs users in: with the password or through an identity provider, and then with the second factor if they have one, or with a
 * passkey, which replaces both. A failure of the first step does not show whether the account exists.
 */
@Injectable()
export class LoginService {
  readonly pauses = { ...PAUSES };

  constructor(
    private readonly limits: LoginLimits,
    private readonly browsers: KnownBrowsersRepository,
    private readonly users: DashboardUsersRepository,
    private readonly passwords: PasswordsService,
    private readonly secondFactor: SecondFactorService,
    private readonly passkeys: PasskeysService,
    private readonly sessions: DashboardSessionsService,
    private readonly providerRequirement: ProviderRequirement,
    private readonly transaction: Transaction,
    private readonly emails: AccountEmails,
    private readonly log: AccountLog,
    private readonly clock: Clock,
  ) {}

  /**
   * Checks the password, and opens a session for the next step or for the dashboard.
   *
   * @returns undefined when the email or password is wrong, or the user is disabled or must use an identity provider
   * @throws ApiError RATE_LIMIT_EXCEEDED
   */
  async logIn(attempt: LoginAttempt): Promise<OpenedLogin | undefined> {
    return maskFailureTiming(this.pauses.failure, async () => {
      const { email, password } = attempt;
      const user = await this.users.findWithPassword(email);
      return this.attempt(user, email, attempt, async () => {
        const isPasswordCorrect = await this.passwords.isCorrect(user?.passwordHash, password);
        return user && isPasswordCorrect ? this.openWithPassword(user, attempt) : undefined;
      });
    });
  }

  /**
   * Checks what a passkey signed, and opens a session for the dashboard.
   *
   * @returns undefined when the passkey is unknown or was removed, what it signed is not valid, or the user is disabled
   * @throws ApiError RATE_LIMIT_EXCEEDED
   */
  async logInWithPasskey(attempt: PasskeyLogin): Promise<OpenedLogin | undefined> {
    return maskFailureTiming(this.pauses.failure, async () => {
      const response = passkeyResponse(attempt.credential);
      const passkey = response ? await this.passkeys.named(response) : null;
      const user = passkey && (await this.users.find(passkey.userId));
      const account = user?.email ?? `passkey ${response?.credential.id}`;
      return this.attempt(user, account, attempt, async () => {
        const counter = response && (await this.passkeys.verify(response, passkey, attempt.browser));
        return passkey && counter !== undefined ? this.openWithPasskey(passkey, counter, attempt) : undefined;
      });
    });
  }

  /**
   * Opens a session for a user whom an identity provider has authenticated, which replaces the password.
   *
   * @returns undefined when the user is disabled, or has not accepted the invitation
   */
  async logInFromProvider(login: LoginFromProvider): Promise<OpenedLogin | undefined> {
    const user = await this.users.find(login.userId);
    const opened = user && (await this.openFromProvider(login));
    if (user && !opened) await this.log.record('auth.login', { ...user, origin: login.origin }, 'denied');
    return opened ?? undefined;
  }

  /**
   * Checks the second factor, and opens a session that grants access. Attempts are limited because a 6-digit code can be guessed.
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
    const { userId, email } = user;
    const { origin, browser } = from;
    const wait = await this.limits.codesPerUser.count(userId);
    if (wait !== undefined) {
      await this.log.recordRefusal('second factor', userId, 'auth.login', { ...user, origin });
      throw tooManyAttempts(wait);
    }
    const opened = await this.openWithSecondFactor(userId, token, proof, from);
    if (!opened) {
      await this.log.record('auth.login', { ...user, origin }, 'failure');
      return undefined;
    }
    const subject = { email, ip: origin.ip, knownBrowser: browser };
    await Promise.all([this.limits.codesPerUser.forget(userId), this.limits.forget(subject)]);
    return opened.session;
  }

  /** @param email of the user, or what was entered or sent if there is no user */
  private async attempt(
    user: DashboardUser | null,
    email: string,
    { origin, browser }: LoginBrowser,
    open: () => Promise<OpenedLogin | undefined>,
  ): Promise<OpenedLogin | undefined> {
    const isKnown = user !== null && (await this.browsers.knows(user.id, browser));
    const subject = { email, ip: origin.ip, knownBrowser: isKnown ? browser : undefined };
    const { wait, isSlowed } = await this.limits.count(subject);
    if (wait !== undefined) {
      if (user) await this.log.recordRefusal('login', user.id, 'auth.login', { ...user, origin });
      throw tooManyAttempts(wait);
    }
    if (isSlowed) await pause(this.pauses.slowed);
    const opened = await open();
    if (user && !opened)
      await this.log.record('auth.login', { ...user, origin }, user.disabledAt ? 'denied' : 'failure');
    if (opened) await this.limits.subtract(subject);
    if (opened?.stage === 'complete') await this.limits.forget(subject);
    return opened;
  }

  /** Checks again whether the user was disabled or changed the password in the meantime. */
  @Transactional()
  private async openWithPassword(
    user: DashboardUser,
    attempt: LoginAttempt,
  ): Promise<OpenedLogin | undefined> {
    const current = await this.users.lock(user.id);
    if (!current || current.disabledAt || current.passwordHash !== user.passwordHash) return undefined;
    if (await this.providerRequirement.appliesTo(current)) return undefined;
    if (attempt.replacing !== undefined) await this.sessions.end(attempt.replacing);
    return this.open(current, current.totpEnabledAt ? 'second_factor' : 'complete', attempt);
  }

  @Transactional()
  private async openWithPasskey(
    passkey: Passkey,
    counter: SignatureCounter,
    attempt: PasskeyLogin,
  ): Promise<OpenedLogin | undefined> {
    const current = await this.users.lock(passkey.userId);
    if (!current || current.disabledAt) return undefined;
    // Whoever has to use an identity provider proves with a passkey only that the login there is recent: some providers cannot.
    const isContinued = await this.providerRequirement.appliesTo(current);
    const expiresAt = isContinued ? await this.sessions.expiryOf(current.id, attempt.replacing) : undefined;
    if (isContinued && !expiresAt) return undefined;
    if (!(await this.passkeys.accept(passkey, counter))) return undefined;
    if (attempt.replacing !== undefined) await this.sessions.end(attempt.replacing);
    return this.open(current, 'complete', attempt, {
      passkeyId: passkey.id,
      ...(expiresAt && { expiresAt }),
    });
  }

  @Transactional()
  private async openFromProvider(login: LoginFromProvider): Promise<OpenedLogin | undefined> {
    const current = await this.users.lock(login.userId);
    if (!current || current.disabledAt || current.passwordHash === null) return undefined;
    if (login.needsSecondFactor && !current.totpEnabledAt) return undefined;
    if (login.replacing !== undefined) await this.sessions.end(login.replacing);
    // The login uses up the invitation.
    await this.transaction.manager.delete(PasswordLink, { userId: current.id });
    await this.emails.discardLinks(current.id);
    const { authenticatedAt, isTwoFactor } = login;
    const stage = current.totpEnabledAt && !isTwoFactor ? 'second_factor' : 'complete';
    return this.open(current, stage, login, { authenticatedAt, isTwoFactor });
  }

  /** Takes the same lock as a password reset, so that no session opened here survives a concurrent reset. */
  @Transactional()
  private async openWithSecondFactor(
    userId: string,
    token: string,
    proof: SecondFactorProof,
    from: LoginBrowser,
  ): Promise<OpenedLogin | undefined> {
    const current = await this.users.lock(userId);
    if (!current || current.disabledAt) return undefined;
    if (!(await this.secondFactor.accepts(current, proof))) return undefined;
    // A code alone does not make the login recent: an identity provider may have logged the user in hours ago.
    const authenticatedAt = await this.sessions.endFirstStep(token);
    return authenticatedAt && this.open(current, 'complete', from, { authenticatedAt });
  }

  /** With a second factor, the second step completes the login and records its outcome. */
  private async open(
    user: DashboardUser,
    stage: SessionStage,
    { origin, browser }: LoginBrowser,
    proof: SessionProof = {},
  ): Promise<OpenedLogin> {
    const session = await this.sessions.open(user.id, stage, origin, proof);
    if (stage !== 'complete') return { stage, session };
    const isNewBrowser = await this.browsers.remember(user.id, browser, this.clock.now());
    if (isNewBrowser) await this.emails.sendNewBrowser(user.id, origin);
    await this.log.record('auth.login', { ...user, origin });
    return { stage, session };
  }
}

/**
 * Delays a failure (undefined or an error) to a multiple of a fixed time, so that the response time does not
 * reveal which check failed. The timer starts here, not when the request arrives, because a slow request body could
 * otherwise use up the interval.
 */
async function maskFailureTiming<T>(
  interval: number,
  work: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const startedAt = performance.now();
  let result: T | undefined;
  try {
    result = await work();
    return result;
  } finally {
    if (result === undefined) await pause(interval - ((performance.now() - startedAt) % interval));
  }
}
