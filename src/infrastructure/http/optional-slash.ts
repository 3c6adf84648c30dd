import { Injectable, SetMetadata, type NestMiddleware } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { RouteTable, type PathTest } from './route-table.js';

const OPTIONAL_SLASH = 'optional slash';

/**
 * Accepts a slash at the end of a route's path, for addresses that people configure, or that clients derive from such an
 * address. The paths of all other routes match exactly.
 */
export const AcceptSlashAtEnd = (): MethodDecorator => SetMetadata(OPTIONAL_SLASH, true);

/** Returns the slash with which the client wrote the path, or nothing. Clients compare identifiers with their own spelling. */
export function slashAtEndOf({ originalUrl }: Request): string {
  return SLASH_AT_END.test(originalUrl) ? '/' : '';
}

const SLASH_AT_END = /^([^?]+)\/(?=\?|$)/;

/** Removes the slash at the end of the path for routes with `AcceptSlashAtEnd`. */
@Injectable()
export class OptionalSlash implements NestMiddleware {
  private isOptional: PathTest | undefined;

  constructor(private readonly routes: RouteTable) {}

  readonly use = (request: Request, _response: Response, next: NextFunction): void => {
    const [, path] = SLASH_AT_END.exec(request.url) ?? [];
    this.isOptional ??= this.routes.pathsWith(OPTIONAL_SLASH);
    if (path !== undefined && this.isOptional(path)) request.url = request.url.replace(SLASH_AT_END, '$1');
    next();
  };
}
