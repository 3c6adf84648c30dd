import { Injectable } from '@nestjs/common';
import { rateLimitKeyOfAddress } from '../../../infrastructure/http/index.js';
import { AttemptLimitsRepository } from '../../../infrastructure/rate-limiting/index.js';
import { HOUR, MINUTE } from '../../../infrastructure/time/index.js';

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
    const { email, knownBrowser } = subject;
    if (knownBrowser !== undefined) {
      const wait = await this.perBrowser.count(browserKey(subject));
      return wait === undefined ? {} : { wait };
    }
    const wait =
      (await this.perAccountAndAddress.count(addressKey(subject))) ??
      (await this.perAddress.count(rateLimitKeyOfAddress(subject.ip))) ??
      (await this.perAccount.count(email));
    if (wait !== undefined) return { wait };
    return { isSlowed: (await this.undelayed.count(email)) !== undefined };
  }

  /** Subtracts an attempt with the correct password: only failures count. */
  async subtract(subject: LoginSubject): Promise<void> {
    const { email, ip, knownBrowser } = subject;
    if (knownBrowser !== undefined) return this.perBrowser.subtract(browserKey(subject));
    await Promise.all([
      this.perAccountAndAddress.subtract(addressKey(subject)),
      this.perAddress.subtract(rateLimitKeyOfAddress(ip)),
      this.perAccount.subtract(email),
      this.undelayed.subtract(email),
    ]);
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
}

function browserKey({ email, knownBrowser }: LoginSubject): string {
  return JSON.stringify([email, knownBrowser]);
}

function addressKey({ email, ip }: LoginSubject): string {
  return JSON.stringify([email, rateLimitKeyOfAddress(ip)]);
}
