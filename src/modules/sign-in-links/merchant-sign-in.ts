import type { PlatformEnvironment } from '../../infrastructure/config/index.js';

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

/** Port for signing in to merchants. Implementations have their own time limits; no transaction is open during a call. */
export abstract class MerchantSignIn {
  /** Returns whether users can sign in to merchants in this environment at all. Each merchant has a status besides. */
  abstract isAvailable(environment: PlatformEnvironment): boolean;

  abstract start(target: SignInTarget, credentials: MerchantCredentials): Promise<SignInOutcome>;

  abstract answer(target: SignInTarget, challenge: string, code: string): Promise<SignInOutcome>;
}
