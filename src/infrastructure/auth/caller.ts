import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { ApiCaller } from './credential-verifier.js';

/** Who is calling; only behind `BasicAuthGuard`. */
export function callerOf(request: Request): ApiCaller {
  return request.user as ApiCaller;
}

/** The handler's parameter that holds the caller. */
export const Caller = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  callerOf(context.switchToHttp().getRequest<Request>()),
);
