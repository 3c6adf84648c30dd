import { Injectable } from '@nestjs/common';
import { rateLimitKeyOfAddress } from '../../infrastructure/http/index.js';
import { RateLimiters } from '../../infrastructure/rate-limiting/index.js';
import { SIGN_IN_RATE_EXCEEDED } from './sign-in-link-errors.js';
import type { SignInLink } from './sign-in-link.entity.js';
import { SignInLinksConfiguration } from './sign-in-links.configuration.js';

/**
 * Limits the forms of each link. Forms of unknown links are counted per IP address instead, apart from those of real links, so
 * that nobody who guesses links can lock out users behind the same address.
 */
@Injectable()
export class SignInFormLimits {
  private readonly perLink = this.limiters.limit({
    name: 'sign-in-forms',
    requests: (configuration) => configuration.get(SignInLinksConfiguration).formsPerMinute,
    seconds: 60,
  });
  private readonly unknownPerAddress = this.limiters.limit({
    name: 'unknown-sign-in-links',
    requests: (configuration) => configuration.get(SignInLinksConfiguration).unknownLinksPerMinute,
    seconds: 60,
  });

  constructor(private readonly limiters: RateLimiters) {}

  /** @throws ApiError SIGN_IN_RATE_EXCEEDED */
  async count(link: SignInLink | null, ip: string): Promise<void> {
    const retryAfter = link
      ? await this.perLink.count(link.id)
      : await this.unknownPerAddress.count(rateLimitKeyOfAddress(ip));
    if (retryAfter !== undefined) throw SIGN_IN_RATE_EXCEEDED.error(undefined, { retryAfter });
  }
}
