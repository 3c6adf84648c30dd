import { Injectable, mixin, type CanActivate, type ExecutionContext, type Type } from '@nestjs/common';
import type { Request } from 'express';
import type { PlatformEnvironment } from '../config/index.js';
import type { ErrorKind } from '../errors/index.js';
import { currentClientOf } from './current-client.js';

/** Denies the operation to clients of the other environment. */
export function EnvironmentGuard(
  environment: PlatformEnvironment,
  kind: ErrorKind,
  message: string,
): Type<CanActivate> {
  @Injectable()
  class ClientEnvironmentGuard implements CanActivate {
    canActivate(context: ExecutionContext): boolean {
      const client = currentClientOf(context.switchToHttp().getRequest<Request>());
      if (client.environment !== environment) throw kind.error(message);
      return true;
    }
  }
  return mixin(ClientEnvironmentGuard);
}
