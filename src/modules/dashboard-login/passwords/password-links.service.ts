import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { sha256 } from '../../../infrastructure/crypto/index.js';
import { Transactional } from '../../../infrastructure/database/index.js';
import { PublicAddress, type RequestOrigin } from '../../../infrastructure/http/index.js';
import { Clock, DAY, HOUR } from '../../../infrastructure/time/index.js';
import { AuditLog } from '../../audit-logs/index.js';
import {
  DashboardUsersRepository,
  EmailTakenError,
  hashPassword,
  type DashboardUser,
} from '../../dashboard-users/index.js';
import { LoginLimits } from '../login/login-limits.js';
import { DashboardSessionsService } from '../sessions/dashboard-sessions.service.js';
import { tooManyAttempts } from '../too-many-attempts.js';
import { PasswordMails } from './password-mails.js';
import { ResetLimits } from './reset-limits.js';
import { PasswordLinksRepository } from './password-links.repository.js';

const RESET_LASTS = HOUR;
const INVITATION_LASTS = 7 * DAY;

/** Whom to invite. */
export interface Invitation {
  readonly id: string;
  readonly organizationId: string;
  readonly email: string;
}

/** `void`: unknown, used or out of date. `taken`: the e-mail address has an account elsewhere. */
export type Redemption = 'set' | 'void' | 'taken';

/**
 * Links by mail that set a password: the first one of who is invited, a new one for who lost theirs. Of the
 * token in a link only a hash is kept, and a new link makes the older one void.
 */
@Injectable()
export class PasswordLinksService {
  constructor(
    private readonly repository: PasswordLinksRepository,
    private readonly users: DashboardUsersRepository,
    private readonly sessions: DashboardSessionsService,
    private readonly mails: PasswordMails,
    private readonly resetLimits: ResetLimits,
    private readonly loginLimits: LoginLimits,
    private readonly publicAddress: PublicAddress,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  /**
   * Mails a link by which an invited user sets their first password, which makes the account theirs; 7 days.
   * Call it when the user is committed: a mail is not rolled back. Nobody waits for it, and the user is there
   * whether it goes out or not.
   */
  invite({ id, organizationId, email }: Invitation): void {
    this.mails.inBackground(async () => {
      const link = await this.createLink(id, INVITATION_LASTS);
      this.mails.sendInvitation(email, await this.users.organizationName(organizationId), link);
    });
  }

  /**
   * Counts the wish for a new password. What comes of it is found out by `sendReset`, behind the answer.
   *
   * @throws ApiError RATE_LIMIT_EXCEEDED
   */
  async countReset(email: string, origin: RequestOrigin): Promise<void> {
    const wait = await this.resetLimits.count(email, origin.ip);
    if (wait !== undefined) throw tooManyAttempts(wait);
  }

  /** Mails a link when the address has an account that may log in. Nobody waits for it. */
  sendReset(email: string): void {
    this.mails.inBackground(async () => {
      const user = await this.users.findAccepted(email);
      if (!user || user.disabledAt) return;
      this.mails.sendReset(user.email, await this.createLink(user.id, RESET_LASTS));
    });
  }

  /** Whether the link is still good. Mail programs look at links before people do: it stays so. */
  async isGood(token: string): Promise<boolean> {
    return this.repository.hasLink(sha256(token), this.clock.now());
  }

  /** Sets the password and ends all the user's logins. */
  async redeem(token: string, password: string, origin: RequestOrigin): Promise<Redemption> {
    // Before the hash, which is expensive, and before a transaction, which should be short.
    if (!(await this.isGood(token))) return 'void';
    const passwordHash = await hashPassword(password);
    try {
      const user = await this.setPassword(sha256(token), passwordHash, origin);
      if (!user) return 'void';
      await this.loginLimits.forget(user.email);
      if (user.passwordHash !== null) this.mails.sendChanged(user.email);
      return 'set';
    } catch (error) {
      if (error instanceof EmailTakenError) return 'taken';
      throw error;
    }
  }

  /** @returns the user as they were before */
  @Transactional()
  private async setPassword(
    tokenHash: Buffer,
    passwordHash: string,
    origin: RequestOrigin,
  ): Promise<DashboardUser | undefined> {
    const userId = await this.repository.takeLink(tokenHash, this.clock.now());
    const user = userId === undefined ? undefined : await this.users.lock(userId);
    if (!user || user.disabledAt) return undefined;
    await this.users.setPassword(user.id, passwordHash);
    await this.sessions.endAll(user.id);
    const by = { ...user, origin };
    await this.auditLog.record({ action: 'auth.password_reset', by, target: { name: user.email } });
    return user;
  }

  private async createLink(userId: string, lifetime: number): Promise<string> {
    const token = randomBytes(32).toString('base64url');
    const expiresAt = new Date(this.clock.milliseconds() + lifetime);
    await this.repository.storeLink({ tokenHash: sha256(token), userId, expiresAt });
    return `${this.publicAddress.of('dashboard')}/password-reset/confirm?token=${token}`;
  }
}
