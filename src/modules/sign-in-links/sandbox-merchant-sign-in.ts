import { Injectable } from '@nestjs/common';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import {
  MerchantSignIn,
  type MerchantCredentials,
  type SignInOutcome,
  type SignInTarget,
} from './merchant-sign-in.js';

const PASSWORD = 'pass_good';
const CODE = '123456';

/** What happens for each user name, with the right password. */
const USERS: ReadonlyMap<string, SignInOutcome> = new Map([
  ['user_good', { outcome: 'succeeded' }],
  ['user_otp', { outcome: 'codeRequired', challenge: 'sandbox' }],
]);

/** Simulates every merchant in the environment `development`. No merchant is available in production. */
@Injectable()
export class SandboxMerchantSignIn extends MerchantSignIn {
  isAvailable(environment: PlatformEnvironment): boolean {
    return environment === 'development';
  }

  async start(_target: SignInTarget, { userName, password }: MerchantCredentials): Promise<SignInOutcome> {
    if (userName === 'user_locked') return { outcome: 'failed' };
    return (password === PASSWORD && USERS.get(userName)) || { outcome: 'refused' };
  }

  async answer(_target: SignInTarget, _challenge: string, code: string): Promise<SignInOutcome> {
    return { outcome: code === CODE ? 'succeeded' : 'refused' };
  }
}
