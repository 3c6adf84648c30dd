import { SetMetadata } from '@nestjs/common';
import type { Request } from 'express';

export const OPTIONAL_SLASH = 'optional slash';

/**
 * Accepts a slash at the end of a route's path, for addresses that people configure, or that clients derive from such an
 * address. The paths of all other routes match exactly.
 */
export const AcceptSlashAtEnd = (): MethodDecorator => SetMetadata(OPTIONAL_SLASH, true);

/** Returns the slash with which the client wrote the path, or nothing. Clients compare identifiers with their own spelling. */
export function slashAtEndOf({ originalUrl }: Request): string {
  return SLASH_AT_END.test(originalUrl) ? '/' : '';
}

export const SLASH_AT_END = /^([^?]+)\/(?=\?|$)/;
