import { Injectable } from '@nestjs/common';
import { dashboardActorOf } from '../auth/index.js';
import { RATE_LIMIT_EXCEEDED } from '../errors/index.js';
import { RateLimitGuard } from './rate-limit.guard.js';
import { RateLimiters } from './rate-limiters.js';
import { RateLimitingConfiguration } from './rate-limiting.configuration.js';

/** Counts the requests of each dashboard user, in whatever way they are logged in. */
@Injectable()
export class DashboardRateLimitGuard extends RateLimitGuard {
  constructor(limiters: RateLimiters, configuration: RateLimitingConfiguration) {
    super(limiters, {
      name: 'dashboard',
      requests: configuration.dashboardRequestsPerMinute,
      seconds: 60,
      subject: (request) => dashboardActorOf(request).userId,
      error: RATE_LIMIT_EXCEEDED,
    });
  }
}
