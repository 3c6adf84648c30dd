import { Injectable, mixin, type CanActivate, type ExecutionContext, type Type } from '@nestjs/common';
import type { Request } from 'express';
import type { PlatformEnvironment } from '../config/index.js';
import { ENVIRONMENT_MISMATCH } from '../errors/index.js';
import { callerOf } from './caller.js';

/** Lets in only credentials of the environment that the operation belongs to; tells the others so. */
export function EnvironmentGuard(environment: PlatformEnvironment, refusal: string): Type<CanActivate> {
  @Injectable()
  class OfEnvironmentGuard implements CanActivate {
    canActivate(context: ExecutionContext): boolean {
      const caller = callerOf(context.switchToHttp().getRequest<Request>());
      if (caller.environment !== environment) throw ENVIRONMENT_MISMATCH.error(refusal);
      return true;
    }
  }
  return mixin(OfEnvironmentGuard);
}
