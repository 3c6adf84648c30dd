import type { NextFunction, Request, Response } from 'express';
import { INVALID_FIELD } from '../errors/index.js';

/** RFC 9112, section 3.2: a request of HTTP/1.1 without Host is answered 400. */
export function requireHost(request: Request, _response: Response, next: NextFunction): void {
  const isMissing = request.headers.host === undefined && request.httpVersion === '1.1';
  next(isMissing ? INVALID_FIELD.error('The Host header is required.') : undefined);
}
