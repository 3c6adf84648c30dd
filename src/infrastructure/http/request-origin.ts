import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

/** Where a call came from, as far as can be told. */
export interface RequestOrigin {
  /** The client's address as seen by the outermost trusted proxy. */
  readonly ip: string;
  readonly userAgent: string;
}

/** Characters; browsers send a tenth of it. */
const MAX_USER_AGENT_LENGTH = 512;

/** The address and user agent of the caller. */
export function requestOrigin(request: Request): RequestOrigin {
  return {
    // An IPv4 caller of a socket that listens on both families.
    ip: (request.ip ?? '').replace(/^::ffff:(?=\d+\.)/, ''),
    userAgent: (request.headers['user-agent'] ?? '').slice(0, MAX_USER_AGENT_LENGTH),
  };
}

/** The handler's parameter that holds where the call came from. */
export const Origin = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  requestOrigin(context.switchToHttp().getRequest<Request>()),
);
