import { Injectable } from '@nestjs/common';
import { HoldsUserData, type ErasedUser, type UserDataHolder } from '../../infrastructure/erasure/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { MerchantGatewayService, MerchantSignOutsRepository } from '../merchant-gateway/index.js';
import { SignInLinksRepository } from './sign-in-links.repository.js';

const LINKS_PER_ERASURE = 1_000;

/** Erases the sign-in links of a user, and has the gateway undo the sign-ins that have not ended. */
@HoldsUserData('access')
@Injectable()
export class ErasedLinks implements UserDataHolder {
  constructor(
    private readonly repository: SignInLinksRepository,
    private readonly gateway: MerchantGatewayService,
    private readonly signOuts: MerchantSignOutsRepository,
    private readonly clock: Clock,
  ) {}

  async eraseBatch({ environment, ...owner }: ErasedUser): Promise<number> {
    const links = await this.repository.deleteByUser(owner, LINKS_PER_ERASURE);
    if (environment === 'production' && this.gateway.isConfigured) {
      const signIns = links.flatMap(({ signInId, signInAskedAt: askedAt }) =>
        signInId === null ? [] : { signInId, askedAt },
      );
      await this.signOuts.add(signIns, this.clock.now());
    }
    return links.length;
  }
}
