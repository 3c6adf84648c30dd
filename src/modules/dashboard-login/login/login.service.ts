import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { DashboardPrincipal } from '../../../infrastructure/auth/index.js';
import { doneAfterwards, unlessOwnFailure } from '../../../infrastructure/database/index.js';
import { tooManyAttempts } from '../../../infrastructure/rate-limiting/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import { DashboardUsersRepository, type DashboardUser } from '../../dashboard-users/index.js';
import { AccountLog } from '../account-emails.js';
import { KnownBrowsersRepository } from '../browsers/known-browsers.repository.js';
import { passkeyResponse, PasskeysService } from '../passkeys/passkeys.service.js';
import { PasswordsService } from '../passwords/passwords.service.js';
import type { SecondFactorProof } from '../second-factor/second-factor.service.js';
import type { OpenedSession } from '../sessions/dashboard-sessions.service.js';
import type { LoginBrowser } from '../login-form.js';
import { LoginLimits } from '../login-limits.js';
import {
  LoginOpeningService,
  type LoginAttempt,
  type LoginFromProvider,
  type OpenedLogin,
  type PasskeyLogin,
} from './login-opening.service.js';

/** Milliseconds. */
export const PAUSES = {
  /** Well above the time for a password hash (40) and an audit log entry (10). */
  failure: 400,
  /** Before an attempt, if many attempts on the account have failed. */
  slowed: 3 * SECOND,
};

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
    private readonly passkeys: PasskeysService,
    private readonly logins: LoginOpeningService,
    private readonly log: AccountLog,
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
        return user && isPasswordCorrect ? this.logins.openWithPassword(user, attempt) : undefined;
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
        const signed = response && (await this.passkeys.verify(response, passkey, attempt.browser));
        return passkey && signed ? this.logins.openWithPasskey(passkey, signed, attempt) : undefined;
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
    const opened = user && (await this.logins.openFromProvider(login));
    if (user && !opened) await this.log.record('auth.login', { ...user, origin: login.origin }, 'denied');
    return opened ?? undefined;
  }

  /**
   * Checks the second factor, and opens a session that grants access. Attempts are limited because a 6-digit code can be guessed.
   * An attempt that the service could not check does not count.
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
    const { codesPerUser } = this.limits;
    const wait = await codesPerUser.count(userId);
    if (wait !== undefined) {
      await this.log.recordRefusal('second factor', userId, 'auth.login', { ...user, origin });
      throw tooManyAttempts(wait);
    }
    const opened = await unlessOwnFailure(
      () => codesPerUser.subtract(userId),
      async () => {
        const login = await this.logins.openWithSecondFactor(userId, token, proof, from);
        if (!login) await this.log.record('auth.login', { ...user, origin }, 'failure');
        return login;
      },
    );
    if (!opened) return undefined;
    const subject = { email, ip: origin.ip, knownBrowser: browser };
    await doneAfterwards(() => Promise.all([codesPerUser.forget(userId), this.limits.forget(subject)]));
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
    const opened = await unlessOwnFailure(
      () => this.limits.subtract(subject),
      async () => {
        const login = await open();
        if (user && !login)
          await this.log.record('auth.login', { ...user, origin }, user.disabledAt ? 'denied' : 'failure');
        return login;
      },
    );
    if (opened) await this.limits.subtract(subject);
    if (opened?.stage === 'complete') await doneAfterwards(() => this.limits.forget(subject));
    return opened;
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
