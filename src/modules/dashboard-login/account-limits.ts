import { rateLimitKeyOfAddress } from '../../infrastructure/http/index.js';
import { AttemptLimitsRepository, type AttemptLimit } from '../../infrastructure/rate-limiting/index.js';
import { SECOND } from '../../infrastructure/time/index.js';

interface Allowance {
  readonly attempts: number;
  /** Milliseconds. */
  readonly within: number;
}

/** How often strangers may try something: with one account, from anywhere; and from one address, with any. */
export abstract class AccountLimits {
  private readonly ofAccount: AttemptLimit;
  private readonly ofSubscriber: AttemptLimit;

  constructor(limits: AttemptLimitsRepository, name: string, account: Allowance, address: Allowance) {
    const limit = (kind: string, { attempts, within }: Allowance): AttemptLimit =>
      limits.limit({ name: `${name}-${kind}`, attempts, seconds: within / SECOND });
    this.ofAccount = limit('account', account);
    this.ofSubscriber = limit('address', address);
  }

  /**
   * Counts under the e-mail address that was entered, whether it has an account or not.
   *
   * @returns seconds to wait when there were too many
   */
  async count(email: string, ip: string): Promise<number | undefined> {
    const waits = await Promise.all([
      this.ofAccount.count(email),
      this.ofSubscriber.count(rateLimitKeyOfAddress(ip)),
    ]);
    const longest = Math.max(...waits.map((wait) => wait ?? 0));
    return longest > 0 ? longest : undefined;
  }

  /** Who got in, or proved to have the mailbox, is not kept out by what others guessed. */
  async forget(email: string): Promise<void> {
    await this.ofAccount.forget(email);
  }
}
