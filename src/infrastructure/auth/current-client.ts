import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { AuthenticatedClient } from './credential-verifier.js';

/** Who is calling; only behind `BasicAuthGuard`. */
export function currentClientOf(request: Request): AuthenticatedClient {
  return request.user as AuthenticatedClient;
}

/** The handler's parameter that holds the caller. */
export const CurrentClient = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  currentClientOf(context.switchToHttp().getRequest<Request>()),
);
