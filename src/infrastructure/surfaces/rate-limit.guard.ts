import { Injectable, mixin, type CanActivate, type ExecutionContext, type Type } from '@nestjs/common';
import type { Request, Response } from 'express';
import { agentKeyOf, currentAgentOf, currentClientOf, dashboardActorOf } from '../auth/index.js';
import type { ErrorKind } from '../errors/index.js';
import { clientAddress, rateLimitKeyOfAddress } from '../http/index.js';
import { RateLimiters, subjectAtAddress, type RateLimit } from '../rate-limiting/index.js';

const SUBJECTS: Readonly<Record<RateLimit['per'], (request: Request) => string>> = {
  client: (request) => currentClientOf(request).clientId,
  user: (request) => dashboardActorOf(request).userId,
  agent: (request) => agentKeyOf(currentAgentOf(request)),
  address: (request) => rateLimitKeyOfAddress(clientAddress(request)),
  issuer: (request) =>
    subjectAtAddress(
      String(request.params['client_id']).toLowerCase(),
      rateLimitKeyOfAddress(clientAddress(request)),
    ),
};

/**
 * Counts every request of a subject, whatever its outcome, and refuses those over the limit with the error. Adds the state of
 * the limit to the headers of every response. Use it through an operation decorator, which also documents the error.
 */
export function RateLimitGuard(limit: RateLimit, error: ErrorKind): Type<CanActivate> {
  const subjectOf = SUBJECTS[limit.per];

  @Injectable()
  class LimitGuard implements CanActivate {
    private readonly counted = this.limiters.limit(limit);

    constructor(private readonly limiters: RateLimiters) {}

    async canActivate(context: ExecutionContext): Promise<boolean> {
      const http = context.switchToHttp();
      const state = await this.counted.consume(subjectOf(http.getRequest<Request>()));
      http.getResponse<Response>().set(this.counted.headersOf(state));
      const { retryAfter } = state;
      if (retryAfter !== undefined) throw error.error(undefined, { retryAfter });
      return true;
    }
  }
  return mixin(LimitGuard);
}
