import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { MoreThan } from 'typeorm';
import { sha256 } from '../../../infrastructure/crypto/index.js';
import { Transaction, Transactional } from '../../../infrastructure/database/index.js';
import { PublicAddress } from '../../../infrastructure/http/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import {
  DashboardUsersRepository,
  EmailTakenError,
  hashPassword,
  INVITATION_LIFETIME,
  type DashboardUser,
  type Inviter,
} from '../../dashboard-users/index.js';
import { AccountEmails, AccountLog } from '../account-emails.js';
import { KnownBrowsersRepository } from '../browsers/known-browsers.repository.js';
import { ProviderRequirement } from '../identity-providers.js';
import type { LoginBrowser } from '../login-form.js';
import { LoginLimits } from '../login-limits.js';
import { DashboardSessionsService } from '../sessions/dashboard-sessions.service.js';
import { PasswordLink, RESET_LIFETIME } from './password-link.entity.js';

/** `invalid`: the link is unknown, used or expired. `taken`: the email has an account in another organization. */
export type Redemption = 'set' | 'invalid' | 'taken';

/**
 * Links that set a password: the first password of an invited user, or a new password. They are sent by email. Only a
 * hash of the token is stored, and a new link replaces an older one.
 */
@Injectable()
export class PasswordLinksService {
  constructor(
    private readonly transaction: Transaction,
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
   * an identity provider. Joins the open transaction.
   */
  @Transactional()
  async invite(
    user: Pick<DashboardUser, 'id' | 'organizationId' | 'role' | 'isBreakGlass'>,
    inviter: Inviter,
  ): Promise<void> {
    const organization = await this.users.organizationName(user.organizationId);
    const expiresAt = this.timeAfter(INVITATION_LIFETIME);
    const link = (await this.providerRequirement.appliesTo(user))
      ? `${this.publicAddress.of('dashboard')}/login`
      : await this.createLink(user.id, expiresAt);
    await this.emails.sendInvitation(user, { ...inviter, organization }, link, expiresAt);
  }

  /** Sends a link for a new password, unless the user is disabled or must log in at an identity provider. Joins the open transaction. */
  async sendReset(user: DashboardUser): Promise<void> {
    if (user.disabledAt || (await this.providerRequirement.appliesTo(user))) return;
    const expiresAt = this.timeAfter(RESET_LIFETIME);
    await this.emails.sendReset(user.id, await this.createLink(user.id, expiresAt), expiresAt);
  }

  /** Returns the user of a valid link. Does not use up the link: email programs open links before users do. */
  async userOf(token: string): Promise<DashboardUser | null> {
    const link = await this.find(sha256(token));
    return link && this.users.find(link.userId);
  }

  /** Returns whether the user logs in at an identity provider, and may not set a password. */
  mustUseProvider(user: DashboardUser): Promise<boolean> {
    return this.providerRequirement.appliesTo(user);
  }

  async isUsedBy({ browser }: LoginBrowser, token: string): Promise<boolean> {
    return (await this.find(hashOfUsed(token, browser))) !== null;
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
    const tokenHash = sha256(token);
    const link = await this.find(tokenHash);
    const user = link && (await this.users.lock(link.userId));
    if (!user || user.disabledAt || (await this.providerRequirement.appliesTo(user))) return undefined;
    const used = { tokenHash: hashOfUsed(token, browser) };
    // Another request may have used it, or it may have expired, while this one waited for the lock.
    if (!(await this.transaction.updateRow(PasswordLink, this.unexpired(tokenHash), used))) return undefined;
    await this.users.setPassword(user.id, passwordHash);
    await this.emails.discardLinks(user.id);
    if (user.passwordHash !== null) await this.emails.sendNotice(user.id, 'passwordChanged');
    await this.sessions.endAll(user.id);
    await this.browsers.remember(user.id, browser, this.clock.now());
    await this.log.record('auth.password_reset', { ...user, origin });
    return user;
  }

  private find(tokenHash: Buffer): Promise<PasswordLink | null> {
    return this.transaction.manager.findOneBy(PasswordLink, this.unexpired(tokenHash));
  }

  private unexpired(tokenHash: Buffer) {
    return { tokenHash, expiresAt: MoreThan(this.clock.now()) };
  }

  private timeAfter(milliseconds: number): Date {
    return new Date(this.clock.milliseconds() + milliseconds);
  }

  private async createLink(userId: string, expiresAt: Date): Promise<string> {
    const token = randomBytes(32).toString('base64url');
    const link = { tokenHash: sha256(token), userId, expiresAt };
    // Replaces an earlier link of the user.
    await this.transaction.manager.upsert(PasswordLink, link, ['userId']);
    return `${this.publicAddress.of('dashboard')}/password-reset/confirm?token=${token}`;
  }
}

/**
 * Returns what replaces the hash of a link that a browser has used, so that version 0.3.0 does not find the link either. It is longer
 * than a hash, so that it is that of no text that somebody could send instead of the token.
 */
const hashOfUsed = (token: string, browser: string): Buffer =>
  Buffer.concat([Buffer.alloc(1), sha256(`${token} ${browser}`)]);
