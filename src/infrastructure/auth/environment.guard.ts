import { Injectable, mixin, type CanActivate, type ExecutionContext, type Type } from '@nestjs/common';
import type { Request } from 'express';
import type { PlatformEnvironment } from '../config/index.js';
import type { ErrorKind } from '../errors/index.js';
import { currentClientOf } from './current-client.js';

/** Lets in only credentials of the environment that the operation belongs to; tells the others so. */
export function EnvironmentGuard(
  environment: PlatformEnvironment,
  kind: ErrorKind,
  refusal: string,
): Type<CanActivate> {
  @Injectable()
  class OfEnvironmentGuard implements CanActivate {
    canActivate(context: ExecutionContext): boolean {
      const caller = currentClientOf(context.switchToHttp().getRequest<Request>());
      if (caller.environment !== environment) throw kind.error(refusal);
      return true;
    }
  }
  return mixin(OfEnvironmentGuard);
}
