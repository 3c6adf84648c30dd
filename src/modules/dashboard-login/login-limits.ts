import { Injectable } from '@nestjs/common';
import { rateLimitKeyOfAddress } from '../../infrastructure/http/index.js';
import { unlessOwnFailure } from '../../infrastructure/database/index.js';
import {
  AttemptLimitsRepository,
  subtractAll,
  type CountedAttempt,
} from '../../infrastructure/rate-limiting/index.js';
import { HOUR, MINUTE } from '../../infrastructure/time/index.js';

/** The account, address and browser of a login attempt. */
export interface LoginSubject {
  readonly email: string;
  readonly ip: string;
  /** The value of the browser's cookie, if the user has logged in with this browser before. */
  readonly knownBrowser: string | undefined;
}

export interface CountedLogin {
  /** Seconds to wait if a limit is exceeded. */
  readonly wait?: number;
  /** Whether the attempt has to be delayed, because many attempts on the account have failed. */
  readonly isSlowed?: boolean;
}

/**
 * Limits failed logins, and prevents attackers from using the limits to lock a user out: a browser that the user has
 * logged in with before has its own count. After several failures in other browsers, further attempts from such
 * browsers are delayed. Only attempts from several addresses can reach the limit of the account (NIST SP 800-63B,
 * section 3.2.2), and a password reset lifts that limit.
 */
@Injectable()
export class LoginLimits {
  private readonly perBrowser = this.limits.limit('login-browser', { attempts: 10, within: 15 * MINUTE });
  private readonly perAccountAndAddress = this.limits.limit('login-account-address', {
    attempts: 10,
    within: 15 * MINUTE,
  });
  private readonly perAddress = this.limits.limit('login-address', { attempts: 50, within: HOUR });
  /** Attempts beyond this limit are delayed, not rejected. */
  private readonly undelayed = this.limits.limit('login-undelayed', { attempts: 10, within: 15 * MINUTE });
  private readonly perAccount = this.limits.limit('login-account', { attempts: 100, within: HOUR });
  /** Wrong codes of the second step. */
  readonly codesPerUser = this.limits.limit('second-factor', { attempts: 5, within: 15 * MINUTE });

  constructor(private readonly limits: AttemptLimitsRepository) {}

  /**
   * Counts an attempt, whether or not the account exists. The limits of the account come last, so that attempts that
   * another limit rejects do not use them up.
   */
  async count(subject: LoginSubject): Promise<CountedLogin> {
    if (subject.knownBrowser === undefined) {
      // First, so that an address beyond its limit adds no rows for accounts of its choice.
      const wait = await this.perAddress.waitOf(rateLimitKeyOfAddress(subject.ip));
      if (wait !== undefined) return { wait };
    }
    const counted: CountedAttempt[] = [];
    return unlessOwnFailure(
      () => subtractAll(counted),
      async () => {
        for (const attempt of this.attemptsOf(subject)) {
          const wait = await attempt.limit.count(attempt.subject);
          counted.push(attempt);
          if (wait !== undefined) return attempt.limit === this.undelayed ? { isSlowed: true } : { wait };
        }
        return {};
      },
    );
  }

  /** Subtracts an attempt with the correct password, or one that the service could not check: only failures count. */
  async subtract(subject: LoginSubject): Promise<void> {
    await subtractAll(this.attemptsOf(subject));
  }

  /** Resets the counts of the account after a login. The count of the address remains: it covers all accounts. */
  async forget(subject: LoginSubject): Promise<void> {
    await Promise.all([
      this.perBrowser.forget(browserKey(subject)),
      this.perAccountAndAddress.forget(addressKey(subject)),
      this.forgetAccount(subject.email),
    ]);
  }

  /** Resets `perAccount` and `undelayed`, which count all unknown browsers together. The counts per browser and address remain. */
  async forgetAccount(email: string): Promise<void> {
    await Promise.all([this.perAccount.forget(email), this.undelayed.forget(email)]);
  }

  private attemptsOf(subject: LoginSubject): CountedAttempt[] {
    const { email, ip, knownBrowser } = subject;
    if (knownBrowser !== undefined) return [{ limit: this.perBrowser, subject: browserKey(subject) }];
    return [
      { limit: this.perAccountAndAddress, subject: addressKey(subject) },
      { limit: this.perAddress, subject: rateLimitKeyOfAddress(ip) },
      { limit: this.perAccount, subject: email },
      { limit: this.undelayed, subject: email },
    ];
  }
}

function browserKey({ email, knownBrowser }: LoginSubject): string {
  return JSON.stringify([email, knownBrowser]);
}

function addressKey({ email, ip }: LoginSubject): string {
  return JSON.stringify([email, rateLimitKeyOfAddress(ip)]);
}
