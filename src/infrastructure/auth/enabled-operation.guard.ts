import { Injectable, mixin, type CanActivate, type ExecutionContext, type Type } from '@nestjs/common';
import type { Request } from 'express';
import { NO_ACCESS } from '../errors/index.js';
import { currentClientOf } from './current-client.js';

/** Denies the operation to clients that it is not enabled for. */
export function EnabledOperationGuard(operation: string): Type<CanActivate> {
  @Injectable()
  class OperationGuard implements CanActivate {
    canActivate(context: ExecutionContext): boolean {
      const client = currentClientOf(context.switchToHttp().getRequest<Request>());
      if (!client.enabledOperations.has(operation)) throw NO_ACCESS.error();
      return true;
    }
  }
  return mixin(OperationGuard);
}
