import type { NextFunction, Request, Response } from 'express';
import { INVALID_FIELD } from '../errors/index.js';

/** RFC 9112, section 3.2: the response to an HTTP/1.1 request without Host is 400. */
export function requireHost(request: Request, _response: Response, next: NextFunction): void {
  const isMissing = request.headers.host === undefined && request.httpVersion === '1.1';
  next(isMissing ? INVALID_FIELD.error('The Host header is required.') : undefined);
}
