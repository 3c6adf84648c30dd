import { Injectable } from '@nestjs/common';
import { currentClientOf } from '../../infrastructure/auth/index.js';
import { TOO_MANY_REQUESTS } from '../../infrastructure/errors/index.js';
import { RateLimiters, RateLimitGuard } from '../../infrastructure/rate-limiting/index.js';
import { McpTokensConfiguration } from './mcp-tokens.configuration.js';

/** 600 requests per minute and client (specification, "Limits"), whatever their outcome. */
@Injectable()
export class McpTokenRateLimitGuard extends RateLimitGuard {
  constructor(limiters: RateLimiters, configuration: McpTokensConfiguration) {
    super(limiters, {
      name: 'mcp-tokens',
      requests: configuration.requestsPerMinute,
      seconds: 60,
      subject: (request) => currentClientOf(request).clientId,
      error: TOO_MANY_REQUESTS,
    });
  }
}
