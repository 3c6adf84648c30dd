import { Injectable } from '@nestjs/common';
import { TOO_MANY_REQUESTS } from '../../infrastructure/errors/index.js';
import { rateLimitKeyOfAddress } from '../../infrastructure/http/index.js';
import { RateLimiters, RateLimitGuard } from '../../infrastructure/rate-limiting/index.js';
import { SessionsConfiguration } from './sessions.configuration.js';

/** Anybody may try to open sessions, but not without end. */
@Injectable()
export class SessionOpenRateLimitGuard extends RateLimitGuard {
  constructor(limiters: RateLimiters, configuration: SessionsConfiguration) {
    super(limiters, {
      name: 'session-opens',
      requests: configuration.opensPerMinute,
      seconds: 60,
      subject: (request) => rateLimitKeyOfAddress(request.ip ?? ''),
      error: TOO_MANY_REQUESTS,
    });
  }
}
