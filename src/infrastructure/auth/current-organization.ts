import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { PlatformEnvironment } from '../config/index.js';

/** The organization whose client or user sent a request. */
export interface RequestingOrganization {
  readonly organizationId: string;
  /** The environment of an API client. A login belongs to both environments. */
  readonly environment?: PlatformEnvironment;
}

/** Handler parameter of operations that accept both Basic credentials and a login. */
export const CurrentOrganization = createParamDecorator(
  (_data: unknown, context: ExecutionContext) =>
    context.switchToHttp().getRequest<Request>().user as RequestingOrganization,
);
