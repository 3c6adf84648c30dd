import type { NextFunction, Request, Response } from 'express';
import { percentDecoded } from '../config/index.js';
import { INVALID_FIELD } from '../errors/index.js';

/** Headers that must not be repeated: Node.js uses the first value, and a proxy may use another. */
const SINGLE_HEADERS = ['Host', 'Authorization'];

/** Rejects requests that a proxy and the service could understand differently (RFC 9112, section 3.2). */
export function validateRequest(request: Request, _response: Response, next: NextFunction): void {
  const problem = problemOf(request);
  next(problem === undefined ? undefined : INVALID_FIELD.error(problem));
}

function problemOf({ headers, httpVersion, rawHeaders, originalUrl }: Request): string | undefined {
  if (headers.host === undefined && httpVersion === '1.1') return 'The Host header is required.';
  for (const name of SINGLE_HEADERS) {
    if (isRepeated(name, rawHeaders)) return `The ${name} header is given more than once.`;
  }
  if (originalUrl.includes('%') && percentDecoded(originalUrl) === undefined)
    return 'The URL contains a percent sign that does not begin an encoded UTF-8 character.';
  return undefined;
}

/** @param rawHeaders alternating names and values */
function isRepeated(name: string, rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const header = rawHeaders[index] as string;
    if (header.length === name.length && header.toLowerCase() === name.toLowerCase()) count += 1;
  }
  return count > 1;
}
