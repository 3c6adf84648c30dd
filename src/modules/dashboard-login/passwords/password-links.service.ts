import { randomBytes, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { IsNull, MoreThan, type FindOperator } from 'typeorm';
import { Sealer, sha256 } from '../../../infrastructure/crypto/index.js';
import { RecurringJob, Transaction, Transactional } from '../../../infrastructure/database/index.js';
import {
  BackgroundTasks,
  PublicAddress,
  rateLimitKeyOfAddress,
  type RequestOrigin,
} from '../../../infrastructure/http/index.js';
import { Clock, HOUR, SECOND } from '../../../infrastructure/time/index.js';
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
import { PasswordLink, PasswordResetRequest, RESET_LIFETIME } from './password-link.entity.js';

/** `invalid`: the link is unknown, used or expired. `taken`: the email has an account in another organization. */
export type Redemption = 'set' | 'invalid' | 'taken';

/**
 * Links that set a password: the first password of an invited user, or a new password. They are sent by email. Only a
 * hash of the token is stored, and a new link replaces an older one.
 */
@Injectable()
export class PasswordLinksService extends RecurringJob {
  private readonly resetsOfAccount = this.limits.limit('reset-account', { attempts: 5, within: HOUR });
  private readonly resetsFromAddress = this.limits.limit('reset-address', { attempts: 20, within: HOUR });

  constructor(
    private readonly limits: AttemptLimitsRepository,
    private readonly transaction: Transaction,
    private readonly users: DashboardUsersRepository,
    private readonly sessions: DashboardSessionsService,
    private readonly browsers: KnownBrowsersRepository,
    private readonly providerRequirement: ProviderRequirement,
    private readonly emails: AccountEmails,
    private readonly loginLimits: LoginLimits,
    private readonly publicAddress: PublicAddress,
    private readonly log: AccountLog,
    private readonly sealer: Sealer,
    private readonly tasks: BackgroundTasks,
    private readonly clock: Clock,
  ) {
    super('Mail', 'Requests for new passwords could not be processed');
  }

  /**
   * Sends an email with a link by which an invited user sets the first password, or to the login page if the user must log in at
   * an identity provider. Joins the open transaction.
   */
  @Transactional()
  async invite(user: Pick<DashboardUser, 'id' | 'organizationId' | 'role' | 'isBreakGlass'>): Promise<void> {
    const organization = await this.users.organizationName(user.organizationId);
    const expiresAt = this.timeAfter(INVITATION_LIFETIME);
    const link = (await this.providerRequirement.appliesTo(user))
      ? `${this.publicAddress.of('dashboard')}/login`
      : await this.createLink(user.id, expiresAt);
    await this.emails.sendInvitation(user.id, organization, link, expiresAt);
  }

  /**
   * Counts and stores a request for a new password, whether or not the email has an account: requests could otherwise flood a
   * mailbox. `beginResets` processes the request after the response.
   *
   * @throws ApiError RATE_LIMIT_EXCEEDED
   */
  async requestReset(email: string, { ip }: RequestOrigin): Promise<void> {
    await this.limits.countAll([
      { limit: this.resetsOfAccount, subject: email, error: tooManyAttempts },
      { limit: this.resetsFromAddress, subject: rateLimitKeyOfAddress(ip), error: tooManyAttempts },
    ]);
    const id = randomUUID();
    const emailSealed = this.sealer.seal(email, ['password_reset_request', id]);
    await this.transaction.manager.insert(PasswordResetRequest, {
      id,
      emailSealed,
      createdAt: this.clock.now(),
    });
  }

  /** Sends the links that were requested, also those that a process which was killed has left behind. */
  @Interval(5 * SECOND)
  run(): Promise<void> {
    return this.start(async () => {
      // A worker may not know the address for the links.
      while (this.publicAddress.find('dashboard') !== undefined && (await this.sendReset()));
    });
  }

  /** Continues after the response. A run in progress may have missed the last request, so another one follows. */
  beginResets(): void {
    this.tasks.begin(() => this.run().then(() => this.run()));
  }

  /** Sends an email with a link, if the address has an account that is not disabled and may have a password. */
  @Transactional()
  private async sendReset(): Promise<boolean> {
    const request = await this.transaction.manager.findOne(PasswordResetRequest, {
      where: {},
      order: { createdAt: 'ASC' },
      lock: { mode: 'pessimistic_write', onLocked: 'skip_locked' },
    });
    if (!request) return false;
    await this.transaction.manager.delete(PasswordResetRequest, { id: request.id });
    const email = this.sealer.open(request.emailSealed, ['password_reset_request', request.id]);
    const user = await this.users.findWithPassword(email);
    if (!user || user.disabledAt || (await this.providerRequirement.appliesTo(user))) return true;
    const expiresAt = this.timeAfter(RESET_LIFETIME);
    await this.emails.sendReset(user.id, await this.createLink(user.id, expiresAt), expiresAt);
    return true;
  }

  /** Returns the user of a valid link. Does not use up the link: email programs open links before users do. */
  async userOf(token: string): Promise<DashboardUser | null> {
    const link = await this.find(token, IsNull());
    return link && this.users.find(link.userId);
  }

  /** Returns whether the user logs in at an identity provider, and may not set a password. */
  mustUseProvider(user: DashboardUser): Promise<boolean> {
    return this.providerRequirement.appliesTo(user);
  }

  async isUsedBy({ browser }: LoginBrowser, token: string): Promise<boolean> {
    return (await this.find(token, sha256(browser))) !== null;
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
      const user = await this.setPassword(token, passwordHash, from);
      if (!user) return 'invalid';
      await this.loginLimits.forgetAccount(user.email);
      return 'set';
    } catch (error) {
      if (error instanceof EmailTakenError) return 'taken';
      throw error;
    }
  }

  /** @returns the user before the change */
  @Transactional()
  private async setPassword(
    token: string,
    passwordHash: string,
    { origin, browser }: LoginBrowser,
  ): Promise<DashboardUser | undefined> {
    const link = await this.find(token, IsNull());
    const user = link && (await this.users.lock(link.userId));
    if (!user || user.disabledAt || (await this.providerRequirement.appliesTo(user))) return undefined;
    const unused = { tokenHash: sha256(token), usedBy: IsNull() };
    if (!(await this.transaction.updateRow(PasswordLink, unused, { usedBy: sha256(browser) })))
      return undefined;
    await this.users.setPassword(user.id, passwordHash);
    await this.emails.discardLinks(user.id);
    if (user.passwordHash !== null) await this.emails.sendNotice(user.id, 'passwordChanged');
    await this.sessions.endAll(user.id);
    await this.browsers.remember(user.id, browser, this.clock.now());
    await this.log.record('auth.password_reset', { ...user, origin });
    return user;
  }

  /** @param usedBy the browser that used the link, or that none did */
  private find(token: string, usedBy: Buffer | FindOperator<Buffer>): Promise<PasswordLink | null> {
    const expiresAt = MoreThan(this.clock.now());
    return this.transaction.manager.findOneBy(PasswordLink, { tokenHash: sha256(token), usedBy, expiresAt });
  }

  private timeAfter(milliseconds: number): Date {
    return new Date(this.clock.milliseconds() + milliseconds);
  }

  private async createLink(userId: string, expiresAt: Date): Promise<string> {
    const token = randomBytes(32).toString('base64url');
    const link = { tokenHash: sha256(token), userId, usedBy: null, expiresAt };
    // Replaces an earlier link of the user.
    await this.transaction.manager.upsert(PasswordLink, link, ['userId']);
    return `${this.publicAddress.of('dashboard')}/password-reset/confirm?token=${token}`;
  }
}
