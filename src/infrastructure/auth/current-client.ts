import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { AuthenticatedClient } from './credential-verifier.js';

/** Returns the authenticated client. Call it only on routes that `BasicAuthGuard` protects. */
export function currentClientOf(request: Request): AuthenticatedClient {
  return request.user as AuthenticatedClient;
}

/** Handler parameter: the authenticated client. */
export const CurrentClient = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  currentClientOf(context.switchToHttp().getRequest<Request>()),
);
