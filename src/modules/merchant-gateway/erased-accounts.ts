import { Injectable } from '@nestjs/common';
import { HoldsUserData, type ErasedUser, type UserDataHolder } from '../../infrastructure/erasure/index.js';
import { MerchantAccountsRepository } from '../merchant-accounts/index.js';
import { MerchantGatewayService } from './merchant-gateway.service.js';

const ACCOUNTS_PER_ERASURE = 1_000;

/** Erases the merchant accounts of a user, and has the gateway end the sign-ins. */
@HoldsUserData('data')
@Injectable()
export class ErasedAccounts implements UserDataHolder {
  constructor(
    private readonly accounts: MerchantAccountsRepository,
    private readonly gateway: MerchantGatewayService,
  ) {}

  async eraseBatch({ clientId, environment, externalUserId }: ErasedUser): Promise<number> {
    const accounts = await this.accounts.deleteOfUser(clientId, externalUserId, ACCOUNTS_PER_ERASURE);
    const signIns = accounts.map(({ sessionId }) => ({ signInId: sessionId }));
    await this.gateway.undoLater(environment, signIns);
    return accounts.length;
  }
}
