import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { dashboardCallerOf } from '../auth/index.js';
import { RATE_LIMIT_EXCEEDED } from '../errors/index.js';
import { RateLimitGuard } from './rate-limit.guard.js';
import { RateLimitingConfiguration } from './rate-limiting.configuration.js';
import { RateLimits } from './rate-limits.js';

/** Counts the requests of each dashboard user, in whatever way they are logged in. */
@Injectable()
export class DashboardRateLimitGuard extends RateLimitGuard {
  constructor(configuration: RateLimitingConfiguration, limits: RateLimits) {
    const limit = {
      name: 'dashboard',
      requests: configuration.dashboardRequestsPerMinute,
      seconds: 60,
      subject: (request: Request) => dashboardCallerOf(request).userId,
      error: RATE_LIMIT_EXCEEDED,
    };
    super(limit, limits);
  }
}
