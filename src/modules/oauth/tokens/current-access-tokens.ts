import { Injectable } from '@nestjs/common';
import { CurrentTokens } from '../../audit-logs/index.js';
import { DashboardUsersRepository } from '../../dashboard-users/index.js';
import { RevokedTokensRepository } from '../revoked-tokens.repository.js';

/** Knows which access tokens of users have ended. Unlike `ActiveAccessTokenVerifier`, it sees the changes of the open transaction. */
@Injectable()
export class CurrentAccessTokens extends CurrentTokens {
  constructor(
    private readonly revoked: RevokedTokensRepository,
    private readonly users: DashboardUsersRepository,
  ) {
    super();
  }

  override async isActive(tokenId: string, userId: string, accessVersion?: number): Promise<boolean> {
    if (await this.revoked.isRevoked(tokenId)) return false;
    return (await this.users.find(userId))?.accessVersion === accessVersion;
  }
}
