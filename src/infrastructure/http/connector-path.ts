import type { NextFunction, Request, Response } from 'express';

const WITH_SLASH = /^\/mcp\/(?=\?|$)/;

/**
 * Accepts the address of the agent connector with a slash at its end, as people often configure it in an agent. All other paths
 * match exactly.
 */
export function acceptConnectorPath(request: Request, _response: Response, next: NextFunction): void {
  request.url = request.url.replace(WITH_SLASH, '/mcp');
  next();
}
