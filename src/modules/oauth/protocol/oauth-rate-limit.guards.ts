import { Injectable } from '@nestjs/common';
import { currentClientOf } from '../../../infrastructure/auth/index.js';
import { RATE_LIMIT_EXCEEDED } from '../../../infrastructure/errors/index.js';
import { rateLimitKeyOfAddress } from '../../../infrastructure/http/index.js';
import { RateLimiters, RateLimitGuard } from '../../../infrastructure/rate-limiting/index.js';
import { OAuthConfiguration } from '../oauth.configuration.js';

/** Requests of new device codes: each takes a row and one of the user codes. */
@Injectable()
export class DeviceCodeRateLimitGuard extends RateLimitGuard {
  constructor(limiters: RateLimiters, configuration: OAuthConfiguration) {
    super(limiters, {
      name: 'device-codes',
      requests: configuration.deviceCodesPerMinute,
      seconds: 60,
      subject: (request) => rateLimitKeyOfAddress(request.ip ?? ''),
      error: RATE_LIMIT_EXCEEDED,
    });
  }
}

/** Everything else of OAuth that anybody may call. Generous: an office full of devices polls from one address. */
@Injectable()
export class OAuthRateLimitGuard extends RateLimitGuard {
  constructor(limiters: RateLimiters, configuration: OAuthConfiguration) {
    super(limiters, {
      name: 'oauth',
      requests: configuration.requestsPerMinute,
      seconds: 60,
      subject: (request) => rateLimitKeyOfAddress(request.ip ?? ''),
      error: RATE_LIMIT_EXCEEDED,
    });
  }
}

/** Introspection by a client: once for each call that a resource server gets. */
@Injectable()
export class IntrospectionRateLimitGuard extends RateLimitGuard {
  constructor(limiters: RateLimiters, configuration: OAuthConfiguration) {
    super(limiters, {
      name: 'introspection',
      requests: configuration.introspectionsPerMinute,
      seconds: 60,
      subject: (request) => currentClientOf(request).clientId,
      error: RATE_LIMIT_EXCEEDED,
    });
  }
}
