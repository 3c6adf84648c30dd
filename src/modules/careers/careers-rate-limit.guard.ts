import { Injectable } from '@nestjs/common';
import { RATE_LIMIT_EXCEEDED } from '../../infrastructure/errors/index.js';
import { RateLimitGuard, subscriber } from '../../infrastructure/rate-limiting/index.js';
import { CareersConfiguration } from './careers.configuration.js';

/** 30 requests an hour and address (contract, "Submit job application"). */
@Injectable()
export class CareersRateLimitGuard extends RateLimitGuard {
  constructor(configuration: CareersConfiguration) {
    super({
      name: 'careers',
      requests: configuration.requestsPerHour,
      seconds: 3600,
      subject: (request) => subscriber(request.ip ?? ''),
      error: RATE_LIMIT_EXCEEDED,
    });
  }
}
