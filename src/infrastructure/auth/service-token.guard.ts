import { Injectable, type CanActivate } from '@nestjs/common';
import type { Request } from 'express';
import { INSUFFICIENT_SCOPE } from '../errors/index.js';
import { RandomTokenGuard } from './bearer-token.guard.js';
import { invalidToken } from './bearer-token.js';
import type { AuthenticatedService, ServiceScope } from './service-token.strategy.js';

/** RFC 6750, section 3. */
const CHALLENGE = 'Bearer realm="Internal API"';

const SERVICE_TOKEN = { challenge: CHALLENGE, name: 'service token' };
export const INVALID_SERVICE_TOKEN = invalidToken(SERVICE_TOKEN).message;

/** Returns the message about a service token without the scope. */
export const missingServiceScope = (scope: ServiceScope): string =>
  `The service token lacks the scope ${scope}.`;

/** Admits requests with a valid service token. */
@Injectable()
export class ServiceTokenGuard extends RandomTokenGuard('service-token', SERVICE_TOKEN) {}

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
