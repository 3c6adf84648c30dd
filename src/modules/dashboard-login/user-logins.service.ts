import { Injectable } from '@nestjs/common';
import { Transactional } from '../../infrastructure/database/index.js';
import { UserLogins, type DashboardUser, type Inviter } from '../dashboard-users/index.js';
import { KnownBrowsersRepository } from './browsers/known-browsers.repository.js';
import { LoginLimits } from './login-limits.js';
import { PasskeysService } from './passkeys/passkeys.service.js';
import { PasswordLinksService } from './passwords/password-links.service.js';
import { SecondFactorService } from './second-factor/second-factor.service.js';
import { DashboardSessionsService } from './sessions/dashboard-sessions.service.js';

/** Implements the port `UserLogins`, and the commands by which operators help users who cannot log in. */
@Injectable()
export class UserLoginsService extends UserLogins {
  constructor(
    private readonly passwordLinks: PasswordLinksService,
    private readonly sessions: DashboardSessionsService,
    private readonly browsers: KnownBrowsersRepository,
    private readonly limits: LoginLimits,
    private readonly secondFactor: SecondFactorService,
    private readonly passkeys: PasskeysService,
  ) {
    super();
  }

  override async invite(user: DashboardUser, inviter: Inviter): Promise<void> {
    await this.passwordLinks.invite(user, inviter);
  }

  override async end(userId: string): Promise<void> {
    await this.sessions.endAll(userId);
  }

  override removeUnapprovedPasskeys(userId: string): Promise<readonly string[]> {
    return this.passkeys.removeUnapproved(userId);
  }

  override lastLogins(userIds: readonly string[]): Promise<ReadonlyMap<string, Date>> {
    return this.browsers.lastLogins(userIds);
  }

  /** Lifts the limits on failed passwords and codes for the account. The limits per browser and address remain. */
  async unlock({ id, email }: DashboardUser): Promise<void> {
    await this.limits.forgetAccount(email);
    await this.limits.codesPerUser.forget(id);
  }

  /**
   * Removes the user's second factor and passkeys, and ends the user's sessions, access tokens and device approvals: somebody may have
   * found the lost device. Emails notify the user.
   *
   * @returns false if there were none
   */
  @Transactional()
  async resetSecondFactor({ id }: DashboardUser): Promise<boolean> {
    // First, because it locks the user, so that no login opens a session meanwhile.
    const hadCodes = await this.secondFactor.reset(id);
    const hadPasskeys = await this.passkeys.removeAll(id);
    if (!hadCodes && !hadPasskeys) return false;
    await this.sessions.endAllAccess(id);
    return true;
  }
}
