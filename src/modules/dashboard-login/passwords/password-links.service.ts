import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { sha256 } from '../../../infrastructure/crypto/index.js';
import { Transactional } from '../../../infrastructure/database/index.js';
import {
  PublicAddress,
  rateLimitKeyOfAddress,
  type RequestOrigin,
} from '../../../infrastructure/http/index.js';
import { Clock, HOUR } from '../../../infrastructure/time/index.js';
import { AttemptLimitsRepository, tooManyAttempts } from '../../../infrastructure/rate-limiting/index.js';
import {
  DashboardUsersRepository,
  EmailTakenError,
  hashPassword,
  INVITATION_LIFETIME,
  type DashboardUser,
} from '../../dashboard-users/index.js';
import { AccountEmails, AccountLog } from '../account-emails.js';
import { KnownBrowsersRepository } from '../browsers/known-browsers.repository.js';
import { ProviderRequirement } from '../login/identity-providers.js';
import type { LoginBrowser } from '../login/login-form.js';
import { LoginLimits } from '../login/login-limits.js';
import { DashboardSessionsService } from '../sessions/dashboard-sessions.service.js';
import { RESET_LIFETIME } from './password-link.entity.js';
import { PasswordLinksRepository } from './password-links.repository.js';

/** `invalid`: the link is unknown, used or expired. `taken`: the email has an account in another organization. */
export type Redemption = 'set' | 'invalid' | 'taken';

/**
 * Links that set a password: the first password of an invited user, or a new password. They are sent by email. Only a
 * hash of the token is stored, and a new link replaces an older one.
 */
@Injectable()
export class PasswordLinksService {
  private readonly resetsOfAccount = this.limits.limit('reset-account', { attempts: 5, within: HOUR });
  private readonly resetsFromAddress = this.limits.limit('reset-address', { attempts: 20, within: HOUR });

  constructor(
    private readonly limits: AttemptLimitsRepository,
    private readonly repository: PasswordLinksRepository,
    private readonly users: DashboardUsersRepository,
    private readonly sessions: DashboardSessionsService,
    private readonly browsers: KnownBrowsersRepository,
    private readonly providerRequirement: ProviderRequirement,
    private readonly emails: AccountEmails,
    private readonly loginLimits: LoginLimits,
    private readonly publicAddress: PublicAddress,
    private readonly log: AccountLog,
    private readonly clock: Clock,
  ) {}

  /**
   * Sends an email with a link by which an invited user sets the first password, or to the login page if the user must log in at
   * an identity provider. Call it after the commit, because an email cannot be rolled back. It is sent in the background, and
   * the user stays invited if sending fails.
   */
  invite(user: Pick<DashboardUser, 'id' | 'organizationId' | 'email' | 'role' | 'isBreakGlass'>): void {
    this.emails.inBackground(async () => {
      const organization = await this.users.organizationName(user.organizationId);
      if (await this.providerRequirement.appliesTo(user)) {
        const link = `${this.publicAddress.of('dashboard')}/login`;
        this.emails.sendInvitationToProvider(user.email, organization, link);
      } else {
        const link = await this.createLink(user.id, INVITATION_LIFETIME);
        this.emails.sendInvitation(user.email, organization, link);
      }
    });
  }

  /**
   * Counts a request for a new password, whether or not the email has an account: requests could otherwise flood a mailbox.
   * `sendReset` processes the request after the response.
   *
   * @throws ApiError RATE_LIMIT_EXCEEDED
   */
  async countResetRequest(email: string, { ip }: RequestOrigin): Promise<void> {
    await this.limits.countAll([
      { limit: this.resetsOfAccount, subject: email, error: tooManyAttempts },
      { limit: this.resetsFromAddress, subject: rateLimitKeyOfAddress(ip), error: tooManyAttempts },
    ]);
  }

  /** Sends an email with a link in the background, if the address has an account that is not disabled and may have a password. */
  sendReset(email: string): void {
    this.emails.inBackground(async () => {
      const user = await this.users.findWithPassword(email);
      if (!user || user.disabledAt || (await this.providerRequirement.appliesTo(user))) return;
      this.emails.sendReset(user.email, await this.createLink(user.id, RESET_LIFETIME));
    });
  }

  /** Returns the user of a valid link. Does not use up the link: email programs open links before users do. */
  async userOf(token: string): Promise<DashboardUser | null> {
    const userId = await this.repository.findLink(sha256(token), this.clock.now());
    return userId === undefined ? null : this.users.find(userId);
  }

  /** Returns whom the link of a user invites; undefined if the user has accepted the invitation. */
  async invitationOf({
    name,
    email,
    organizationId,
    passwordHash,
  }: DashboardUser): Promise<{ name: string; email: string; organization: string } | undefined> {
    if (passwordHash !== null) return undefined;
    return { name, email, organization: await this.users.organizationName(organizationId) };
  }

  /**
   * Sets the password and ends all sessions of the user. The browser is remembered, so that failed logins of others
   * cannot lock the user out.
   */
  async redeem(token: string, password: string, from: LoginBrowser): Promise<Redemption> {
    // Hash before the transaction, to keep the transaction short.
    const passwordHash = await hashPassword(password);
    try {
      const user = await this.setPassword(sha256(token), passwordHash, from);
      if (!user) return 'invalid';
      await this.loginLimits.forgetAccount(user.email);
      if (user.passwordHash !== null) this.emails.sendNotice(user.email, 'passwordChanged');
      return 'set';
    } catch (error) {
      if (error instanceof EmailTakenError) return 'taken';
      throw error;
    }
  }

  /** @returns the user before the change */
  @Transactional()
  private async setPassword(
    tokenHash: Buffer,
    passwordHash: string,
    { origin, browser }: LoginBrowser,
  ): Promise<DashboardUser | undefined> {
    const userId = await this.repository.takeLink(tokenHash, this.clock.now());
    const user = userId === undefined ? undefined : await this.users.lock(userId);
    if (!user || user.disabledAt || (await this.providerRequirement.appliesTo(user))) return undefined;
    await this.users.setPassword(user.id, passwordHash);
    await this.sessions.endAll(user.id);
    await this.browsers.remember(user.id, browser, this.clock.now());
    await this.log.record('auth.password_reset', { ...user, origin });
    return user;
  }

  private async createLink(userId: string, lifetime: number): Promise<string> {
    const token = randomBytes(32).toString('base64url');
    const expiresAt = new Date(this.clock.milliseconds() + lifetime);
    await this.repository.storeLink({ tokenHash: sha256(token), userId, expiresAt });
    return `${this.publicAddress.of('dashboard')}/password-reset/confirm?token=${token}`;
  }
}
