import { Injectable } from '@nestjs/common';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { MerchantStatusesService, type StatusByType } from '../merchant-statuses/index.js';

/** The merchant and the user who signs in to it. */
export interface SignInTarget {
  readonly environment: PlatformEnvironment;
  readonly merchantId: number;
}

/** What the user entered. Must not be stored or logged. */
export interface MerchantCredentials {
  readonly userName: string;
  readonly password: string;
}

export type SignInOutcome =
  | { readonly outcome: 'succeeded' }
  /** The merchant asks for a one-time code. The challenge is stored encrypted, and passed to `answer()` with the code. */
  | { readonly outcome: 'codeRequired'; readonly challenge: string }
  /** The credentials or the code are wrong. The user may try again. */
  | { readonly outcome: 'refused' }
  /** The merchant does not let the user sign in, whatever the user enters. */
  | { readonly outcome: 'failed' };

const PASSWORD = 'pass_good';
const CODE = '123456';

/** What happens for each user name, with the right password. */
const USERS: ReadonlyMap<string, SignInOutcome> = new Map([
  ['user_good', { outcome: 'succeeded' }],
  ['user_otp', { outcome: 'codeRequired', challenge: 'sandbox' }],
]);

/**
 * Signs users in to merchants: simulates every merchant in the environment `development`. No merchant is available in
 * production. An implementation for real merchants needs time limits of its own; no transaction is open during a call.
 */
@Injectable()
export class MerchantSignIn {
  constructor(private readonly statuses: MerchantStatusesService) {}

  /** Returns whether users can sign in to merchants in this environment at all. Each merchant has a status besides. */
  isAvailable(environment: PlatformEnvironment): boolean {
    return environment === 'development';
  }

  /** Returns whether users can sign in to a merchant with this status. */
  isAvailableWith(environment: PlatformEnvironment, { link }: StatusByType): boolean {
    return link === 'UP' && this.isAvailable(environment);
  }

  /** Returns whether users can sign in to the merchant now. Asked before a link is created, and whenever it is opened. */
  async isAvailableAt(environment: PlatformEnvironment, merchantId: number): Promise<boolean> {
    const statuses = await this.statuses.statusesOf([merchantId]);
    return this.isAvailableWith(environment, statuses(merchantId));
  }

  async start(_target: SignInTarget, { userName, password }: MerchantCredentials): Promise<SignInOutcome> {
    if (userName === 'user_locked') return { outcome: 'failed' };
    return (password === PASSWORD && USERS.get(userName)) || { outcome: 'refused' };
  }

  async answer(_target: SignInTarget, _challenge: string, code: string): Promise<SignInOutcome> {
    return { outcome: code === CODE ? 'succeeded' : 'refused' };
  }
}
