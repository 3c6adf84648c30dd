import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { RateLimiterRes, type RateLimiterAbstract } from 'rate-limiter-flexible';
import type { ErrorKind } from '../errors/index.js';
import type { RateLimiters, RequestRate } from './rate-limiters.js';

export interface RateLimit extends RequestRate {
  /** Whose requests are counted together. */
  readonly subject: (request: Request) => string;
  readonly error: ErrorKind;
}

/**
 * Counts every request of a subject, whatever its outcome, and refuses those past the limit. The count
 * is taken and compared in one step, so rivals at the edge get exactly what is left.
 */
export abstract class RateLimitGuard implements CanActivate {
  private readonly limiter: RateLimiterAbstract;
  private readonly countRefusal: () => void;

  constructor(
    limiters: RateLimiters,
    private readonly limit: RateLimit,
  ) {
    this.limiter = limiters.for(limit);
    this.countRefusal = limiters.refusalsOf(limit.name);
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    try {
      await this.limiter.consume(this.limit.subject(request));
      return true;
    } catch (rejection) {
      if (!(rejection instanceof RateLimiterRes)) throw rejection;
      this.countRefusal();
      const retryAfter = Math.max(1, Math.ceil(rejection.msBeforeNext / 1000));
      throw this.limit.error.error(undefined, { retryAfter });
    }
  }
}
