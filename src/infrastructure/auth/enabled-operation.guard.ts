import { Injectable, mixin, type CanActivate, type ExecutionContext, type Type } from '@nestjs/common';
import type { Request } from 'express';
import { NO_ACCESS } from '../errors/index.js';
import { currentClientOf } from './current-client.js';

/** Lets in only clients that the operation was arranged for. */
export function EnabledOperationGuard(operation: string): Type<CanActivate> {
  @Injectable()
  class OperationGuard implements CanActivate {
    canActivate(context: ExecutionContext): boolean {
      const caller = currentClientOf(context.switchToHttp().getRequest<Request>());
      if (!caller.enabledOperations.has(operation)) throw NO_ACCESS.error();
      return true;
    }
  }
  return mixin(OperationGuard);
}
