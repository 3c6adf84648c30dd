import { Injectable } from '@nestjs/common';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import {
  MerchantGatewayService,
  MerchantSignOutsRepository,
  type MerchantCredentials,
  type SignInOutcome,
  type SignInTarget,
} from '../merchant-gateway/index.js';
import { MerchantStatusesService, type StatusByType } from '../merchant-statuses/index.js';

const PASSWORD = 'pass_good';
const CODE = '123456';

/** The simulated outcome for each user name with the right password. `user_locked` fails with any password. */
const USERS: ReadonlyMap<string, SignInOutcome> = new Map([
  ['user_good', { outcome: 'succeeded' }],
  ['user_otp', { outcome: 'codeRequired', challenge: 'sandbox' }],
]);

/**
 * Signs users in to merchants: through the merchant gateway in production, and to simulated merchants in development. Callers hold
 * no transaction open while they wait.
 */
@Injectable()
export class MerchantSignIn {
  constructor(
    private readonly statuses: MerchantStatusesService,
    private readonly gateway: MerchantGatewayService,
    private readonly signOuts: MerchantSignOutsRepository,
  ) {}

  /** Returns whether sign-ins are supported in this environment. Each merchant also has its own status. */
  isConfigured(environment: PlatformEnvironment): boolean {
    return environment === 'development' || this.gateway.isConfigured;
  }

  /** Returns whether users can probably sign in to a merchant with this status. */
  isAvailableWith(environment: PlatformEnvironment, { link }: StatusByType): boolean {
    return link === 'UP' && (environment === 'development' || this.gateway.isResponding);
  }

  /** Returns whether users can sign in to the merchant now. Checked before a link is created and each time the link is opened. */
  async isAvailableAt(environment: PlatformEnvironment, merchantId: number): Promise<boolean> {
    const statuses = await this.statuses.statusesOf([merchantId]);
    if (statuses(merchantId).link !== 'UP') return false;
    return environment === 'development' || this.gateway.responds();
  }

  async start(target: SignInTarget, credentials: MerchantCredentials): Promise<SignInOutcome> {
    if (target.environment === 'production') return this.gateway.start(target, credentials);
    const { userName, password } = credentials;
    if (userName === 'user_locked') return { outcome: 'failed' };
    return (password === PASSWORD && USERS.get(userName)) || { outcome: 'refused' };
  }

  async answer(target: SignInTarget, challenge: string, code: string): Promise<SignInOutcome> {
    if (target.environment === 'production') return this.gateway.answer(target, challenge, code);
    return { outcome: code === CODE ? 'succeeded' : 'refused' };
  }

  /** Undoes a sign-in, or ends one that waits for a code. @returns whether nothing is left of it */
  async undo({ environment, signInId }: Pick<SignInTarget, 'environment' | 'signInId'>): Promise<boolean> {
    return environment === 'development' || this.gateway.undo(signInId);
  }

  /** Records that a sign-in has to be undone. `MerchantSignOutsJob` does so when no process waits for its response anymore. */
  async undoLater(
    { environment, signInId }: Pick<SignInTarget, 'environment' | 'signInId'>,
    now: Date,
  ): Promise<void> {
    if (environment === 'production') await this.signOuts.add(signInId, now, now);
  }
}
