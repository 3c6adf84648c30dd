import { Injectable } from '@nestjs/common';
import type { DashboardPrincipal } from '../../../infrastructure/auth/index.js';
import { Transactional } from '../../../infrastructure/database/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { DashboardUsersService } from '../../dashboard-users/index.js';
import {
  DeviceAuthorizationsRepository,
  type ChangedAuthorization,
} from '../authorizations/device-authorizations.repository.js';
import { AccessTokens } from './access-tokens.js';
import type { ReadyKey } from './token-keyring.js';

/** `withdrawn`: who approved may not any more. */
export type RedemptionOutcome = { readonly token: string } | 'withdrawn' | 'not approved any more';

/** Gives an approved device its token, once. */
@Injectable()
export class Redemption {
  constructor(
    private readonly authorizations: DeviceAuthorizationsRepository,
    private readonly users: DashboardUsersService,
    private readonly tokens: AccessTokens,
    private readonly clock: Clock,
  ) {}

  async redeem(id: string): Promise<RedemptionOutcome> {
    return this.redeemWith(id, await this.tokens.signer());
  }

  /** A token that cannot be signed leaves the code as it was: the device may try again. */
  @Transactional()
  protected async redeemWith(id: string, signer: ReadyKey): Promise<RedemptionOutcome> {
    const redeemed = await this.authorizations.redeem(id, this.clock.now());
    if (!redeemed) return 'not approved any more';
    const user = await this.approver(redeemed);
    if (!user) {
      await this.authorizations.withdraw(id);
      return 'withdrawn';
    }
    return { token: await this.tokens.sign({ ...redeemed, ...user }, signer) };
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
