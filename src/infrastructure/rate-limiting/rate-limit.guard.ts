import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { RateLimiterRes, type RateLimiterMemory } from 'rate-limiter-flexible';
import type { ErrorKind } from '../errors/index.js';
import { RateLimits } from './rate-limits.js';

export interface RateLimit {
  /** Names the limit; two limits never share their counts. */
  readonly name: string;
  readonly requests: number;
  readonly seconds: number;
  /** Whose requests are counted together. */
  readonly subject: (request: Request) => string;
  readonly error: ErrorKind;
}

/**
 * Counts every request of a subject, whatever its outcome, and refuses those past the limit. The count
 * is taken and compared in one step, so rivals at the edge get exactly what is left.
 */
export abstract class RateLimitGuard implements CanActivate {
  private readonly limiter: RateLimiterMemory;

  /** @param limits shared by the guards of several modules; a guard of one module alone needs none */
  constructor(
    private readonly limit: RateLimit,
    limits: RateLimits = new RateLimits(),
  ) {
    this.limiter = limits.limiter(limit.name, limit.requests, limit.seconds);
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    try {
      await this.limiter.consume(this.limit.subject(request));
      return true;
    } catch (rejection) {
      if (!(rejection instanceof RateLimiterRes)) throw rejection;
      const retryAfter = Math.max(1, Math.ceil(rejection.msBeforeNext / 1000));
      throw this.limit.error.error(undefined, { retryAfter });
    }
  }
}
