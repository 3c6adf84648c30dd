import type { Request } from 'express';

/** Other methods must not become label values, because clients can send any text. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const OTHER_METHOD = '_OTHER';

/** Returns the pattern of the matched route, or undefined if no route matched. */
export function routeOf(request: Request): string | undefined {
  return (request.route as { path?: string } | undefined)?.path;
}

/** Returns the method or `_OTHER` (OpenTelemetry semantic conventions for HTTP). */
export function methodOf(request: Request): string {
  return METHODS.has(request.method) ? request.method : OTHER_METHOD;
}
