import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { AuthenticatedAgent } from '../../../infrastructure/auth/index.js';
import { TOO_MANY_REQUESTS, type ApiError } from '../../../infrastructure/errors/index.js';
import {
  ConnectorRateLimitConfiguration,
  RateLimiters,
  type RateLimit,
} from '../../../infrastructure/rate-limiting/index.js';

const LIMIT: RateLimit = {
  name: 'tool-calls',
  requests: (configuration) => configuration.get(ConnectorRateLimitConfiguration).toolCallsPerMinute,
  per: 'agent',
  seconds: 60,
};

/** Limits tool calls. Not a guard: at a response with the status 429, clients of earlier revisions end the conversation. */
@Injectable()
export class ToolCallLimit {
  private readonly limit = this.limiters.limit(LIMIT);

  constructor(private readonly limiters: RateLimiters) {}

  /** Counts a call, and adds the state of the limit to the headers. @returns the error for a call over the limit */
  async count({ tokenId }: AuthenticatedAgent, response: Response): Promise<ApiError | undefined> {
    const state = await this.limit.consume(tokenId);
    response.set(this.limit.headersOf(state));
    const { retryAfter } = state;
    if (retryAfter === undefined) return undefined;
    return TOO_MANY_REQUESTS.error(
      'There were too many tool calls within a minute. Wait the number of seconds given in retry_after.',
      { retryAfter },
    );
  }
}
