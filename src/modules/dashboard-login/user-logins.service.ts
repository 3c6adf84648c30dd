import { Injectable } from '@nestjs/common';
import { Transactional } from '../../infrastructure/database/index.js';
import { UserLogins, type DashboardUser } from '../dashboard-users/index.js';
import { KnownBrowsersRepository } from './browsers/known-browsers.repository.js';
import { LoginLimits } from './login/login-limits.js';
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

  override async invite(user: DashboardUser): Promise<void> {
    await this.passwordLinks.invite(user);
  }

  override async end(userId: string): Promise<void> {
    await this.sessions.endAll(userId);
  }

  override lastLogins(userIds: readonly string[]): Promise<ReadonlyMap<string, Date>> {
    return this.browsers.lastLogins(userIds);
  }

  /** Lifts the limits on failed passwords and codes for the account. The limits per browser and address remain. */
  async unlock({ id, email }: DashboardUser): Promise<void> {
    await this.limits.forgetAccount(email);
    await this.limits.codesPerUser.forget(id);
  }

  /** Removes the user's second factor and passkeys. Emails notify the user. @returns false if there were none */
  @Transactional()
  async resetSecondFactor({ id }: DashboardUser): Promise<boolean> {
    const hadPasskeys = await this.passkeys.removeAll(id);
    return (await this.secondFactor.reset(id)) || hadPasskeys;
  }
}
