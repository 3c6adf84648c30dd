import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import type { Request } from 'express';
import { INSUFFICIENT_SCOPE, INVALID_ACCESS_TOKEN } from '../errors/index.js';
import { bearerHeaders } from './bearer-token.js';
import type { AuthenticatedService, ServiceScope } from './service-token.strategy.js';

/** RFC 6750, section 3. */
const CHALLENGE = 'Bearer realm="Internal API"';

export const INVALID_SERVICE_TOKEN = 'The service token is missing or not valid.';

/** Returns the message about a service token without the scope. */
export const missingServiceScope = (scope: ServiceScope): string =>
  `The service token lacks the scope ${scope}.`;

/** Admits requests with a valid service token. Every other request gets the same 401 response. */
@Injectable()
export class ServiceTokenGuard extends AuthGuard('service-token') {
  override getRequest(context: ExecutionContext): Partial<Request> {
    const request = context.switchToHttp().getRequest<Request>();
    const headers = bearerHeaders(request.headers.authorization);
    if (!headers) throw unauthorized(request);
    return { headers };
  }

  override handleRequest<Service>(
    error: unknown,
    service: Service,
    _info: unknown,
    context: ExecutionContext,
  ): Service {
    if (error) throw error;
    const request = context.switchToHttp().getRequest<Request>();
    if (!service) throw unauthorized(request);
    request.user = service;
    return service;
  }
}

/** Denies the operation to service tokens without the scope. Runs after `ServiceTokenGuard`. */
export function ServiceScopeGuard(scope: ServiceScope): CanActivate {
  return {
    canActivate: (context) => {
      const { scopes } = context.switchToHttp().getRequest<Request>().user as AuthenticatedService;
      if (scopes.has(scope)) return true;
      throw INSUFFICIENT_SCOPE.error(missingServiceScope(scope), {
        headers: { 'WWW-Authenticate': `${CHALLENGE}, error="insufficient_scope", scope="${scope}"` },
      });
    },
  };
}

/** RFC 6750, section 3.1: a request without credentials gets no error code. */
function unauthorized({ headers }: Request): Error {
  const challenge = headers.authorization === undefined ? CHALLENGE : `${CHALLENGE}, error="invalid_token"`;
  return INVALID_ACCESS_TOKEN.error(INVALID_SERVICE_TOKEN, { headers: { 'WWW-Authenticate': challenge } });
}
