import type { CanActivate } from '@nestjs/common';
import type { Request } from 'express';
import type { PlatformEnvironment } from '../config/index.js';
import { NO_ACCESS, type ErrorKind } from '../errors/index.js';
import { INSUFFICIENT_SCOPE } from './auth-errors.js';
import { invalidToken, SERVICE_TOKEN } from './bearer-token.js';
import type { AuthenticatedClient, AuthenticatedService, ServiceScope } from './principals.js';
import type { Scope } from './scopes.js';

export const INVALID_SERVICE_TOKEN = invalidToken(SERVICE_TOKEN).message;

/** Denies a restricted operation to clients that it is not enabled for. */
export function RestrictedOperationGuard(operation: string): CanActivate {
  return userGuard(({ enabledOperations }: AuthenticatedClient) => {
    if (!enabledOperations.has(operation)) throw NO_ACCESS.error();
  });
}

/** Denies the operation to clients of the other environment. */
export function EnvironmentGuard(
  environment: PlatformEnvironment,
  kind: ErrorKind,
  message: string,
): CanActivate {
  return userGuard((client: AuthenticatedClient) => {
    if (client.environment !== environment) throw kind.error(message);
  });
}

export const missingScope = (scope: Scope, credential = 'API key'): string =>
  `The ${credential} lacks the scope ${scope}.`;

/** Denies the operation to API keys without the scope. */
export function ScopeGuard(scope: Scope): CanActivate {
  return userGuard(({ key }: AuthenticatedClient) => {
    if (key && !key.scopes.has(scope)) throw INSUFFICIENT_SCOPE.error(missingScope(scope));
  });
}

export const missingServiceScope = (scope: ServiceScope): string =>
  `The service token lacks the scope ${scope}.`;

/** Denies the operation to service tokens without the scope. */
export function ServiceScopeGuard(scope: ServiceScope): CanActivate {
  return userGuard(({ scopes }: AuthenticatedService) => {
    if (scopes.has(scope)) return;
    throw INSUFFICIENT_SCOPE.error(missingServiceScope(scope), {
      headers: {
        'WWW-Authenticate': `${SERVICE_TOKEN.challenge}, error="insufficient_scope", scope="${scope}"`,
      },
    });
  });
}

/** @param check throws an error for a user that is denied */
function userGuard<User>(check: (user: User) => void): CanActivate {
  return {
    canActivate: (context) => {
      check(context.switchToHttp().getRequest<Request>().user as User);
      return true;
    },
  };
}
