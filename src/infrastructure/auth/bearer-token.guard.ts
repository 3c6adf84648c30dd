import type { CanActivate, ExecutionContext, Type } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import type { Request } from 'express';
import { bearerHeaders, expiredToken, invalidToken, type TokenKind } from './bearer-token.js';

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
