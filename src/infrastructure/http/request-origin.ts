import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

/** Where a request came from. */
export interface RequestOrigin {
  /** The client's address as seen by the outermost trusted proxy. */
  readonly ip: string;
  readonly userAgent: string;
}

/** Characters. Browsers send about a quarter of that. */
const MAX_USER_AGENT_LENGTH = 512;

/** Returns the IP address and user agent of the client. */
export function requestOrigin(request: Request): RequestOrigin {
  return {
    // If the server listens on both address families, the address of an IPv4 client is `::ffff:` and the IPv4 address.
    ip: (request.ip ?? '').replace(/^::ffff:(?=\d+\.)/, ''),
    userAgent: (request.headers['user-agent'] ?? '').slice(0, MAX_USER_AGENT_LENGTH),
  };
}

/** Parameter decorator for the origin of the request. */
export const Origin = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  requestOrigin(context.switchToHttp().getRequest<Request>()),
);
