import { Injectable } from '@nestjs/common';
import type { DashboardPrincipal } from '../../../infrastructure/auth/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { DashboardUsersService } from '../../dashboard-users/index.js';
import {
  DeviceAuthorizationsRepository,
  type ChangedAuthorization,
} from '../authorizations/device-authorizations.repository.js';
import { DevicePollsRepository } from '../authorizations/device-polls.repository.js';
import { AccessTokens } from './access-tokens.js';

/** `withdrawn`: who approved may not any more. */
export type RedemptionOutcome = { readonly token: string } | 'withdrawn' | 'not approved any more';

/** Gives an approved device its token, once. */
@Injectable()
export class Redemption {
  constructor(
    private readonly authorizations: DeviceAuthorizationsRepository,
    private readonly polls: DevicePollsRepository,
    private readonly users: DashboardUsersService,
    private readonly tokens: AccessTokens,
    private readonly clock: Clock,
  ) {}

  /**
   * The token is made first and given away only by whoever then redeems the code, in one statement. One that
   * cannot be made leaves the code as it was: the device may try again.
   */
  async redeem(authorization: ChangedAuthorization): Promise<RedemptionOutcome> {
    const user = await this.approver(authorization);
    if (!user) {
      await this.authorizations.withdraw(authorization.id);
      return 'withdrawn';
    }
    const token = await this.tokens.sign({ ...authorization, ...user });
    const isRedeemed = await this.polls.redeem(authorization.id, this.clock.now());
    return isRedeemed ? { token } : 'not approved any more';
  }

  /** Who approved, as of now: active, and still of the organization that the client belongs to. */
  private async approver({
    userId,
    organizationId,
  }: ChangedAuthorization): Promise<DashboardPrincipal | undefined> {
    const user = userId === null ? undefined : await this.users.principal(userId);
    return user?.organizationId === organizationId ? user : undefined;
  }
}
