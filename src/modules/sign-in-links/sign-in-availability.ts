import { Injectable } from '@nestjs/common';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { MerchantStatusesService, type StatusByType } from '../merchant-statuses/index.js';
import { MerchantSignIn } from './merchant-sign-in.js';

/** Decides whether users can sign in to merchants with links: before a link is created, and whenever it is opened. */
@Injectable()
export class SignInAvailability {
  constructor(
    private readonly merchantSignIn: MerchantSignIn,
    private readonly statuses: MerchantStatusesService,
  ) {}

  /** Returns whether users can sign in to merchants in this environment at all. */
  inEnvironment(environment: PlatformEnvironment): boolean {
    return this.merchantSignIn.isAvailable(environment);
  }

  /** Returns whether users can sign in to a merchant with this status. */
  withStatus(environment: PlatformEnvironment, { link }: StatusByType): boolean {
    return link === 'UP' && this.inEnvironment(environment);
  }

  /** Returns whether users can sign in to the merchant now. */
  async atMerchant(environment: PlatformEnvironment, merchantId: number): Promise<boolean> {
    const statuses = await this.statuses.statusesOf([merchantId]);
    return this.withStatus(environment, statuses(merchantId));
  }
}
