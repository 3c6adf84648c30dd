import { Injectable } from '@nestjs/common';
import { HoldsUserData, type ErasedUser, type UserDataHolder } from '../../infrastructure/erasure/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { MerchantAccountsRepository } from '../merchant-accounts/index.js';
import { MerchantGatewayService } from './merchant-gateway.service.js';
import { MerchantSignOutsRepository } from './merchant-sign-outs.repository.js';

const ACCOUNTS_PER_ERASURE = 1_000;

/** Erases the merchant accounts of a user, and has the gateway end the sign-ins. */
@HoldsUserData('data')
@Injectable()
export class ErasedAccounts implements UserDataHolder {
  constructor(
    private readonly accounts: MerchantAccountsRepository,
    private readonly gateway: MerchantGatewayService,
    private readonly signOuts: MerchantSignOutsRepository,
    private readonly clock: Clock,
  ) {}

  async eraseBatch({ clientId, environment, externalUserId }: ErasedUser): Promise<number> {
    const accounts = await this.accounts.deleteOfUser(clientId, externalUserId, ACCOUNTS_PER_ERASURE);
    if (environment === 'production' && this.gateway.isConfigured) {
      const signIns = accounts.flatMap(({ sessionId }) =>
        sessionId === null ? [] : { signInId: sessionId },
      );
      await this.signOuts.add(signIns, this.clock.now());
    }
    return accounts.length;
  }
}
