import { Injectable, type CanActivate, type ExecutionContext, type Type } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import type { Request } from 'express';
import { ApiError, INVALID_ACCESS_TOKEN, TOO_MANY_REQUESTS } from '../errors/index.js';
import { bearerHeaders, expiredToken, invalidToken, type TokenKind } from './bearer-token.js';
import { FailedCredentials } from './failed-credentials.js';

/**
 * Creates a guard that admits requests with a valid token of this kind. Other requests get a 401 response that tells missing
 * credentials, another scheme, an expired token and an invalid token apart, and nothing else.
 *
 * @param strategy name of the Passport strategy, whose verifier returns `expired` for a token that has expired
 */
export function BearerTokenGuard(strategy: string, kind: TokenKind): Type<CanActivate> {
  return class extends AuthGuard(strategy) {
    override getRequest(context: ExecutionContext): Partial<Request> {
      const { authorization } = context.switchToHttp().getRequest<Request>().headers;
      return { headers: bearerHeaders(authorization, kind) };
    }

    override handleRequest<User>(
      error: unknown,
      user: User,
      _info: unknown,
      context: ExecutionContext,
    ): User {
      if (error) throw error;
      if (user === 'expired') throw expiredToken(kind);
      const request = context.switchToHttp().getRequest<Request>();
      if (!user) throw invalidToken(kind, request.headers.authorization);
      request.user = user;
      return user;
    }
  };
}

/** Creates a `BearerTokenGuard` for random tokens, which responds with 429 after too many wrong tokens from one IP address. */
export function RandomTokenGuard(strategy: string, kind: TokenKind): Type<CanActivate> {
  @Injectable()
  class Guard extends BearerTokenGuard(strategy, kind) {
    constructor(private readonly failures: FailedCredentials) {
      super();
    }

    override async canActivate(context: ExecutionContext): Promise<boolean> {
      try {
        return (await super.canActivate(context)) as boolean;
      } catch (error) {
        const request = context.switchToHttp().getRequest<Request>();
        const isWrong = error instanceof ApiError && error.code === INVALID_ACCESS_TOKEN.code;
        if (isWrong && request.headers.authorization !== undefined) await this.refuseTooMany(request);
        throw error;
      }
    }

    private async refuseTooMany(request: Request): Promise<void> {
      const excess = await this.failures.count(request);
      if (excess) throw TOO_MANY_REQUESTS.error(undefined, excess);
    }
  }
  return Guard;
}
