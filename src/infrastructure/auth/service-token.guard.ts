import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import type { Request } from 'express';
import { INSUFFICIENT_SCOPE } from '../errors/index.js';
import { bearerHeaders, expiredToken, invalidToken } from './bearer-token.js';
import type { AuthenticatedService, ServiceScope } from './service-token.strategy.js';

/** RFC 6750, section 3. */
const CHALLENGE = 'Bearer realm="Internal API"';

const SERVICE_TOKEN = { challenge: CHALLENGE, name: 'service token' };
export const INVALID_SERVICE_TOKEN = invalidToken(SERVICE_TOKEN).message;

/** Returns the message about a service token without the scope. */
export const missingServiceScope = (scope: ServiceScope): string =>
  `The service token lacks the scope ${scope}.`;

/** Admits requests with a valid service token. Other requests get the same 401 responses as in the dashboard API. */
@Injectable()
export class ServiceTokenGuard extends AuthGuard('service-token') {
  override getRequest(context: ExecutionContext): Partial<Request> {
    const { authorization } = context.switchToHttp().getRequest<Request>().headers;
    return { headers: bearerHeaders(authorization, SERVICE_TOKEN) };
  }

  override handleRequest<Service>(
    error: unknown,
    service: Service,
    _info: unknown,
    context: ExecutionContext,
  ): Service {
    if (error) throw error;
    if (service === 'expired') throw expiredToken(SERVICE_TOKEN);
    if (!service) throw invalidToken(SERVICE_TOKEN);
    context.switchToHttp().getRequest<Request>().user = service;
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
