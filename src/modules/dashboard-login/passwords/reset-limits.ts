import { Injectable } from '@nestjs/common';
import { rateLimitKeyOfAddress } from '../../../infrastructure/http/index.js';
import { AttemptLimitsRepository } from '../../../infrastructure/rate-limiting/index.js';
import { HOUR } from '../../../infrastructure/time/index.js';

/** Limits requests for password emails, which could otherwise flood a mailbox. */
@Injectable()
export class ResetLimits {
  private readonly perAccount = this.limits.limit({ name: 'reset-account', attempts: 5, within: HOUR });
  private readonly perAddress = this.limits.limit({ name: 'reset-address', attempts: 20, within: HOUR });

  constructor(private readonly limits: AttemptLimitsRepository) {}

  /**
   * Counts a request for the email that was entered, whether or not it has an account.
   *
   * @returns seconds to wait if a limit is exceeded
   */
  async count(email: string, ip: string): Promise<number | undefined> {
    const waits = await Promise.all([
      this.perAccount.count(email),
      this.perAddress.count(rateLimitKeyOfAddress(ip)),
    ]);
    const longest = Math.max(...waits.map((wait) => wait ?? 0));
    return longest > 0 ? longest : undefined;
  }
}
