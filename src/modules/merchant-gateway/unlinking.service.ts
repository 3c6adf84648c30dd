import { Injectable } from '@nestjs/common';
import { Transactional } from '../../infrastructure/database/index.js';
import { HoldsUserData, type ErasedUser, type UserDataHolder } from '../../infrastructure/erasure/index.js';
import type { AttributedClient, RequestAttribution } from '../../infrastructure/http/index.js';
import {
  MerchantAccountsRepository,
  MerchantAccountsService,
  type AccountCheck,
  type MerchantAccountResponse,
} from '../merchant-accounts/index.js';
import { MerchantGatewayService } from './merchant-gateway.service.js';
import type { UnlinkAccountRequest } from './unlinking.dto.js';

const ACCOUNTS_PER_ERASURE = 1_000;

/** Disconnects and erases merchant accounts of users, and has the gateway end the sign-ins. */
@HoldsUserData('data')
@Injectable()
export class UnlinkingService implements UserDataHolder {
  constructor(
    private readonly accounts: MerchantAccountsService,
    private readonly repository: MerchantAccountsRepository,
    private readonly gateway: MerchantGatewayService,
  ) {}

  /**
   * Disconnects the account. After the commit, `MerchantSignOutsJob` ends the sign-in at the gateway.
   *
   * @throws ApiError MERCHANT_ACCOUNT_NOT_FOUND, MERCHANT_ACCOUNT_DISCONNECTED
   */
  @Transactional()
  async unlink(
    { clientId, environment }: AttributedClient,
    { external_user_id: externalUserId, merchant_id: merchantId }: UnlinkAccountRequest,
    attribution: RequestAttribution,
    check?: AccountCheck,
  ): Promise<MerchantAccountResponse> {
    attribution.externalUserId = externalUserId;
    const account = await this.accounts.disconnect({ clientId, externalUserId, merchantId }, check);
    await this.gateway.undoLater([{ clientId, environment, signInId: account.session_id }]);
    return account;
  }

  async eraseBatch({ clientId, environment, externalUserId }: ErasedUser): Promise<number> {
    const accounts = await this.repository.deleteOfUser(clientId, externalUserId, ACCOUNTS_PER_ERASURE);
    const signIns = accounts.map(({ sessionId }) => ({ clientId, environment, signInId: sessionId }));
    await this.gateway.undoLater(signIns);
    return accounts.length;
  }
}
