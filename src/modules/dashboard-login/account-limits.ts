import { rateLimitKeyOfAddress } from '../../infrastructure/http/index.js';
import {
  AttemptLimitsRepository,
  type AttemptLimit,
  type AttemptLimitOptions,
} from '../../infrastructure/rate-limiting/index.js';

type Allowance = Omit<AttemptLimitOptions, 'name'>;

/** Limits attempts of unauthenticated clients: per account from all addresses, and per address for all accounts. */
export abstract class AccountLimits {
  private readonly perAccount: AttemptLimit;
  private readonly perAddress: AttemptLimit;

  constructor(limits: AttemptLimitsRepository, name: string, account: Allowance, address: Allowance) {
    this.perAccount = limits.limit({ name: `${name}-account`, ...account });
    this.perAddress = limits.limit({ name: `${name}-address`, ...address });
  }

  /**
   * Counts an attempt for the email that was entered, whether or not it has an account.
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

  /** Resets the limit of an account after a success, so that earlier attempts by others do not block its owner. */
  async forget(email: string): Promise<void> {
    await this.perAccount.forget(email);
  }
}
