import { Injectable } from '@nestjs/common';
import { UserLogins, type DashboardUser } from '../dashboard-users/index.js';
import { PasswordLinksService } from './passwords/password-links.service.js';
import { DashboardSessionsService } from './sessions/dashboard-sessions.service.js';

/** Implements the port `UserLogins`, through which `dashboard-users` sends invitations and ends sessions. */
@Injectable()
export class UserLoginsService extends UserLogins {
  constructor(
    private readonly passwordLinks: PasswordLinksService,
    private readonly sessions: DashboardSessionsService,
  ) {
    super();
  }

  override invite(user: DashboardUser): void {
    this.passwordLinks.invite(user);
  }

  override async end(userId: string): Promise<void> {
    await this.sessions.endAll(userId);
  }
}
