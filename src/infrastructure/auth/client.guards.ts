import type { CanActivate } from '@nestjs/common';
import type { Request } from 'express';
import type { PlatformEnvironment } from '../config/index.js';
import { NO_ACCESS, type ErrorKind } from '../errors/index.js';
import type { AuthenticatedClient } from './credential-verifier.js';
import { currentClientOf } from './current-client.js';

/** Denies the operation to clients that it is not enabled for. */
export function EnabledOperationGuard(operation: string): CanActivate {
  return clientGuard(({ enabledOperations }) => {
    if (!enabledOperations.has(operation)) throw NO_ACCESS.error();
  });
}

/** Denies the operation to clients of the other environment. */
export function EnvironmentGuard(
  environment: PlatformEnvironment,
  kind: ErrorKind,
  message: string,
): CanActivate {
  return clientGuard((client) => {
    if (client.environment !== environment) throw kind.error(message);
  });
}

/** @param check throws an error for a client that is denied */
function clientGuard(check: (client: AuthenticatedClient) => void): CanActivate {
  return {
    canActivate: (context) => {
      check(currentClientOf(context.switchToHttp().getRequest<Request>()));
      return true;
    },
  };
}
