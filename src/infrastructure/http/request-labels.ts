import type { Request } from 'express';

/** What else a stranger's request may have for a method is no label of ours. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const OTHER_METHOD = '_OTHER';

/** The pattern of the route that was found, as the controller has it; undefined where there is none. */
export function routeOf(request: Request): string | undefined {
  return (request.route as { path?: string } | undefined)?.path;
}

/** The method, as far as an operation of ours has it (semantic conventions of OpenTelemetry, HTTP). */
export function methodOf(request: Request): string {
  return METHODS.has(request.method) ? request.method : OTHER_METHOD;
}
