import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { AuthenticatedClient } from './credential-verifier.js';
import type { DashboardIdentity } from './dashboard-actor.js';

/** The client or user that sent a request. */
export type RequestingOrganization = AuthenticatedClient | DashboardIdentity;

/** Handler parameter of operations that accept both Basic credentials and a login. */
export const CurrentOrganization = createParamDecorator(
  (_data: unknown, context: ExecutionContext) =>
    context.switchToHttp().getRequest<Request>().user as RequestingOrganization,
);
