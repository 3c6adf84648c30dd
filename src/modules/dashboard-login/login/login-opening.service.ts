import { Injectable } from '@nestjs/common';
import { Transaction, Transactional } from '../../../infrastructure/database/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import {
  DashboardUsersRepository,
  hasExpiredPassword,
  type DashboardUser,
} from '../../dashboard-users/index.js';
import { AccountEmails, AccountLog } from '../account-emails.js';
import { KnownBrowsersRepository } from '../browsers/known-browsers.repository.js';
import { ProviderRequirement } from '../identity-providers.js';
import type { LoginBrowser } from '../login-form.js';
import type { Passkey } from '../passkeys/passkey.entity.js';
import { PasskeysService, type SignedChallenge } from '../passkeys/passkeys.service.js';
import { PasswordLink } from '../passwords/password-link.entity.js';
import { SecondFactorService, type SecondFactorProof } from '../second-factor/second-factor.service.js';
import type { SessionStage } from '../sessions/dashboard-session.entity.js';
import {
  DashboardSessionsService,
  type OpenedSession,
  type SessionProof,
} from '../sessions/dashboard-sessions.service.js';

interface LoginRequest extends LoginBrowser {
  /** The token of the browser's current session, which the new session replaces. */
  readonly replacing?: string | undefined;
}

export interface LoginAttempt extends LoginRequest {
  readonly email: string;
  readonly password: string;
}

export interface PasskeyLogin extends LoginRequest {
  /** The response of the browser after it used a passkey. */
  readonly credential: string;
}

export interface LoginFromProvider extends LoginRequest {
  readonly userId: string;
  /** When the user logged in at the provider. */
  readonly authenticatedAt: Date;
  /** When the session ends at the latest, if the provider says so. */
  readonly sessionEndsAt?: Date | undefined;
  readonly isTwoFactor: boolean;
  readonly isOwnerApproved: boolean;
  /** Whether only the second factor can prove that the login is recent. */
  readonly needsSecondFactor: boolean;
}

/** The result of a step that succeeded. */
export interface OpenedLogin {
  readonly stage: SessionStage;
  readonly session: OpenedSession;
}

/** Opens the sessions of users whose password, passkey, identity provider or code was checked, in one transaction each. */
@Injectable()
export class LoginOpeningService {
  constructor(
    private readonly transaction: Transaction,
    private readonly users: DashboardUsersRepository,
    private readonly browsers: KnownBrowsersRepository,
    private readonly secondFactor: SecondFactorService,
    private readonly passkeys: PasskeysService,
    private readonly sessions: DashboardSessionsService,
    private readonly providerRequirement: ProviderRequirement,
    private readonly emails: AccountEmails,
    private readonly log: AccountLog,
    private readonly clock: Clock,
  ) {}

  /** Checks again whether the user was disabled or changed the password in the meantime. */
  @Transactional()
  async openWithPassword(user: DashboardUser, attempt: LoginAttempt): Promise<OpenedLogin | undefined> {
    const current = await this.users.lock(user.id);
    if (!current || current.disabledAt || current.passwordHash !== user.passwordHash) return undefined;
    if (hasExpiredPassword(current, this.clock.now())) return undefined;
    if (await this.providerRequirement.appliesTo(current)) return undefined;
    if (attempt.replacing !== undefined) await this.sessions.end(attempt.replacing);
    const stage = current.totpEnabledAt ? 'second_factor' : 'complete';
    return this.open(current, stage, attempt, { usedPassword: true });
  }

  @Transactional()
  async openWithPasskey(
    passkey: Passkey,
    signed: SignedChallenge,
    attempt: PasskeyLogin,
  ): Promise<OpenedLogin | undefined> {
    if (!(await this.passkeys.consume(signed))) return undefined;
    const current = await this.users.lock(passkey.userId);
    if (!current || current.disabledAt) return undefined;
    // A user who has to use an identity provider proves with a passkey only that the login there is recent: some providers cannot.
    const isContinued = await this.providerRequirement.appliesTo(current);
    const endsBy = isContinued ? await this.sessions.expiryOf(current.id, attempt.replacing) : undefined;
    if (isContinued && !endsBy) return undefined;
    if (!(await this.passkeys.accept(passkey, signed))) return undefined;
    if (attempt.replacing !== undefined) await this.sessions.end(attempt.replacing);
    return this.open(current, 'complete', attempt, {
      passkeyId: passkey.id,
      isOwnerApproved: passkey.isOwnerApproved,
      endsBy,
    });
  }

  @Transactional()
  async openFromProvider(login: LoginFromProvider): Promise<OpenedLogin | undefined> {
    const current = await this.users.lock(login.userId);
    if (!current || current.disabledAt || current.passwordHash === null) return undefined;
    if (login.needsSecondFactor && !current.totpEnabledAt) return undefined;
    if (login.replacing !== undefined) await this.sessions.end(login.replacing);
    // The login uses up the invitation.
    await this.transaction.manager.delete(PasswordLink, { userId: current.id });
    await this.emails.discardLinks(current.id);
    const { authenticatedAt, sessionEndsAt: endsBy, isTwoFactor, isOwnerApproved } = login;
    const stage = current.totpEnabledAt && !isTwoFactor ? 'second_factor' : 'complete';
    return this.open(current, stage, login, { authenticatedAt, endsBy, isTwoFactor, isOwnerApproved });
  }

  /** Takes the same lock as a password reset, so that no session opened here survives a concurrent reset. */
  @Transactional()
  async openWithSecondFactor(
    userId: string,
    token: string,
    proof: SecondFactorProof,
    from: LoginBrowser,
  ): Promise<OpenedLogin | undefined> {
    const current = await this.users.lock(userId);
    if (!current || current.disabledAt) return undefined;
    if (!(await this.secondFactor.accepts(current, proof))) return undefined;
    // A code alone does not make the login recent: an identity provider may have logged the user in hours ago.
    const firstStep = await this.sessions.endFirstStep(token);
    // Single sign-on may be required since the first step.
    if (firstStep?.usedPassword && (await this.providerRequirement.appliesTo(current))) return undefined;
    return firstStep && this.open(current, 'complete', from, firstStep);
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
