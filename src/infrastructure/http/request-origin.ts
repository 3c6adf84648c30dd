import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

/** Where a request came from. */
export interface RequestOrigin {
  /** The client's address as seen by the outermost trusted proxy. */
  readonly ip: string;
  readonly userAgent: string;
}

/** Characters. Browsers send about a tenth. */
const MAX_USER_AGENT_LENGTH = 512;

/** Returns the IP address and user agent of the client. */
export function requestOrigin(request: Request): RequestOrigin {
  return {
    // An IPv4 client of a socket that listens on both address families.
    ip: (request.ip ?? '').replace(/^::ffff:(?=\d+\.)/, ''),
    userAgent: (request.headers['user-agent'] ?? '').slice(0, MAX_USER_AGENT_LENGTH),
  };
}

/** Parameter decorator for the origin of the request. */
export const Origin = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  requestOrigin(context.switchToHttp().getRequest<Request>()),
);
