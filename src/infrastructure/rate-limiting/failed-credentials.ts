import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { clientAddress, rateLimitKeyOfAddress, requestContext } from '../http/index.js';
import { subjectAtAddress } from './bounded-memory.js';
import { PlatformRateLimitConfiguration } from './rate-limit.configuration.js';
import { perMinute, RateLimiters, type CountedLimit } from './rate-limiters.js';

interface TooManyFailures {
  /** Seconds. */
  readonly retryAfter: number;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Limits wrong credentials per IP address, and those of an API client also per client and IP address. Call it only after the
 * credentials have been checked, so that a flood of wrong secrets never refuses the right one.
 */
@Injectable()
export class FailedCredentials {
  private readonly perAddress = this.limiters.limit(
    perMinute(
      'failed-credentials-per-address',
      'address',
      PlatformRateLimitConfiguration,
      'failuresPerAddress',
    ),
  );
  private readonly perClient = this.limiters.limit(
    perMinute('failed-credentials-per-client', 'client', PlatformRateLimitConfiguration, 'failuresPerClient'),
  );
  /** Per client, address and minute, failures beyond a limit share one entry in the request log. */
  private readonly entries = this.limiters.limit({
    name: 'failed-credentials-entries',
    requests: () => 1,
    seconds: 60,
  });

  constructor(private readonly limiters: RateLimiters) {}

  /**
   * Counts a failure. Of those beyond a limit, only the first is recorded in the request log.
   *
   * @param clientId absent for tokens whose client is not known
   * @returns undefined within the limits
   */
  async count(request: Request, clientId?: string): Promise<TooManyFailures | undefined> {
    const address = rateLimitKeyOfAddress(clientAddress(request));
    // In lower case, because credentials are accepted in every spelling of the UUID.
    const both = subjectAtAddress((clientId ?? '').toLowerCase(), address);
    // Counts the address first, which limits the number of client IDs to count: afterwards, only those of clients that exist.
    const counts: [CountedLimit, string][] = [[this.perAddress, address]];
    if (clientId !== undefined) counts.push([this.perClient, both]);
    for (const [limit, subject] of counts) {
      const state = await limit.consume(subject);
      const { retryAfter } = state;
      if (retryAfter === undefined) continue;
      const context = requestContext(request);
      if (context.isRecorded && (!context.client || (await this.entries.count(both)) !== undefined))
        context.excludeFromRequestLog();
      return { retryAfter, headers: limit.headersOf(state) };
    }
    return undefined;
  }
}
