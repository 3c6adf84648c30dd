import { Injectable } from '@nestjs/common';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import {
  MerchantGatewayService,
  type MerchantCredentials,
  type SignInOutcome,
  type SignInRequest,
} from '../merchant-gateway/index.js';
import { MerchantStatusesService, type StatusByType } from '../merchant-statuses/index.js';

const PASSWORD = 'pass_good';
const CODE = '123456';

/** The simulated outcome for each user name with the right password. `user_locked` is denied with any password. */
const USERS: ReadonlyMap<string, SignInOutcome> = new Map([
  ['user_good', { outcome: 'succeeded' }],
  ['user_otp', { outcome: 'codeRequired', challengeId: 'sandbox' }],
]);

/**
 * Signs users in to merchants: through the merchant gateway in production, and to simulated merchants in development. No transaction may be
 * open during a request, because it can take 30 seconds.
 */
@Injectable()
export class MerchantSignIn {
  constructor(
    private readonly statuses: MerchantStatusesService,
    private readonly gateway: MerchantGatewayService,
  ) {}

  /** Returns whether sign-ins are supported in this environment. Each merchant also has its own status. */
  isConfigured(environment: PlatformEnvironment): boolean {
    return environment === 'development' || this.gateway.isConfigured;
  }

  /** Returns whether users can probably sign in to a merchant with this status. Sends no request to the gateway. */
  isProbablyAvailable(environment: PlatformEnvironment, { link }: Pick<StatusByType, 'link'>): boolean {
    return link === 'UP' && (environment === 'development' || this.gateway.isProbablyAvailable);
  }

  /** Returns whether users can sign in to the merchant now, for a link that is created or opened. */
  async isAvailable(environment: PlatformEnvironment, merchantId: number): Promise<boolean> {
    const statuses = await this.statuses.statusesOf([merchantId]);
    if (statuses(merchantId).link !== 'UP') return false;
    return environment === 'development' || this.gateway.isAvailable();
  }

  async signIn(request: SignInRequest, credentials: MerchantCredentials): Promise<SignInOutcome> {
    if (request.environment === 'production') return this.gateway.signIn(request, credentials);
    const { userName, password } = credentials;
    if (userName === 'user_locked') return { outcome: 'denied' };
    return (password === PASSWORD && USERS.get(userName)) || { outcome: 'incorrect' };
  }

  async submitCode(request: SignInRequest, challengeId: string, code: string): Promise<SignInOutcome> {
    if (request.environment === 'production') return this.gateway.submitCode(request, challengeId, code);
    return { outcome: code === CODE ? 'succeeded' : 'incorrect' };
  }

  /** Undoes a sign-in, or ends one that waits for a code. @returns false if the gateway did not confirm it */
  async undo({ environment, signInId }: Pick<SignInRequest, 'environment' | 'signInId'>): Promise<boolean> {
    return environment === 'development' || this.gateway.undo(signInId);
  }
}
