import { Injectable } from '@nestjs/common';
import { HoldsUserData, type ErasedUser, type UserDataHolder } from '../../infrastructure/erasure/index.js';
import { MerchantGatewayService } from '../merchant-gateway/index.js';
import { SignInLinksRepository } from './sign-in-links.repository.js';

const LINKS_PER_ERASURE = 1_000;

/** Erases the sign-in links of a user, and has the gateway undo the sign-ins that have not ended. */
@HoldsUserData('access')
@Injectable()
export class ErasedLinks implements UserDataHolder {
  constructor(
    private readonly repository: SignInLinksRepository,
    private readonly gateway: MerchantGatewayService,
  ) {}

  async eraseBatch({ environment, ...owner }: ErasedUser): Promise<number> {
    const links = await this.repository.deleteByUser(owner, LINKS_PER_ERASURE);
    const signIns = links.map(({ signInId, signInAskedAt: askedAt }) => ({ signInId, askedAt }));
    await this.gateway.undoLater(environment, signIns);
    return links.length;
  }
}
