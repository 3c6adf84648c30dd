import { Injectable } from '@nestjs/common';
import type { AuthenticatedClient } from '../../infrastructure/auth/index.js';
import { Transactional } from '../../infrastructure/database/index.js';
import type { RequestAttribution } from '../../infrastructure/http/index.js';
import { MerchantAccountsService, type MerchantAccountResponse } from '../merchant-accounts/index.js';
import { MerchantGatewayService } from './merchant-gateway.service.js';
import type { UnlinkAccountRequest } from './unlinking.dto.js';

@Injectable()
export class UnlinkingService {
  constructor(
    private readonly accounts: MerchantAccountsService,
    private readonly gateway: MerchantGatewayService,
  ) {}

  /**
   * Disconnects the account. After the commit, `MerchantSignOutsJob` ends the sign-in at the gateway.
   *
   * @throws ApiError MERCHANT_ACCOUNT_NOT_FOUND, MERCHANT_ACCOUNT_DISCONNECTED
   */
  @Transactional()
  async unlink(
    { clientId, environment }: AuthenticatedClient,
    { external_user_id: externalUserId, merchant_id: merchantId }: UnlinkAccountRequest,
    attribution: RequestAttribution,
  ): Promise<MerchantAccountResponse> {
    attribution.externalUserId = externalUserId;
    const account = await this.accounts.disconnect({ clientId, externalUserId, merchantId });
    await this.gateway.undoLater(environment, [{ signInId: account.session_id }]);
    return account;
  }
}
