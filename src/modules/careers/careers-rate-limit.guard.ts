import { Injectable } from '@nestjs/common';
import { RATE_LIMIT_EXCEEDED } from '../../infrastructure/errors/index.js';
import { rateLimitKeyOfAddress } from '../../infrastructure/http/index.js';
import { RateLimiters, RateLimitGuard } from '../../infrastructure/rate-limiting/index.js';
import { CareersConfiguration } from './careers.configuration.js';

/** 30 requests an hour and address (contract, "Submit job application"). */
@Injectable()
export class CareersRateLimitGuard extends RateLimitGuard {
  constructor(limiters: RateLimiters, configuration: CareersConfiguration) {
    super(limiters, {
      name: 'careers',
      requests: configuration.requestsPerHour,
      seconds: 3600,
      subject: (request) => rateLimitKeyOfAddress(request.ip ?? ''),
      error: RATE_LIMIT_EXCEEDED,
    });
  }
}
