import { Injectable, mixin, type CanActivate, type ExecutionContext, type Type } from '@nestjs/common';
import type { Request } from 'express';
import { RateLimiterRes } from 'rate-limiter-flexible';
import { currentClientOf, dashboardActorOf } from '../auth/index.js';
import { LoadedConfiguration } from '../config/index.js';
import type { ErrorKind } from '../errors/index.js';
import { rateLimitKeyOfAddress } from '../http/index.js';
import { SECOND } from '../time/index.js';
import { RateLimiters } from './rate-limiters.js';

export interface RateLimit {
  /** Operations with the same name share their counts; the name is also a label of the metrics. */
  readonly name: string;
  readonly requests: (configuration: LoadedConfiguration) => number;
  /** Whose requests are counted together; a client or a user must be authenticated first. */
  readonly per: 'client' | 'user' | 'address';
  readonly seconds: number;
}

const SUBJECTS: Readonly<Record<RateLimit['per'], (request: Request) => string>> = {
  client: (request) => currentClientOf(request).clientId,
  user: (request) => dashboardActorOf(request).userId,
  address: (request) => rateLimitKeyOfAddress(request.ip ?? ''),
};

/**
 * Counts every request of a subject, whatever its outcome, and refuses those over the limit with the error. Use it
 * through the `limit` option of an operation decorator, which also documents the error.
 */
export function RateLimitGuard(limit: RateLimit, error: ErrorKind): Type<CanActivate> {
  const { name, seconds } = limit;
  const subjectOf = SUBJECTS[limit.per];

  @Injectable()
  class LimitGuard implements CanActivate {
    private readonly limiter = this.limiters.limiterFor({
      name,
      requests: limit.requests(this.configuration),
      seconds,
    });
    private readonly countRejection = this.limiters.rejectionCounter(name);

    constructor(
      private readonly limiters: RateLimiters,
      private readonly configuration: LoadedConfiguration,
    ) {}

    async canActivate(context: ExecutionContext): Promise<boolean> {
      const request = context.switchToHttp().getRequest<Request>();
      try {
        await this.limiter.consume(subjectOf(request));
        return true;
      } catch (rejection) {
        if (!(rejection instanceof RateLimiterRes)) throw rejection;
        this.countRejection();
        const retryAfter = Math.max(1, Math.ceil(rejection.msBeforeNext / SECOND));
        throw error.error(undefined, { retryAfter });
      }
    }
  }
  return mixin(LimitGuard);
}
