import type { NextFunction, Request, Response } from 'express';

/**
 * What every answer tells browsers, unless its route says otherwise: keep no copy, show it in no frame and run
 * nothing of it, take it for what it says it is, let no other site load it, and tell nobody where a link in it
 * was followed. Pages and the documentation have policies of their own.
 */
export const PROTECTIVE_HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
} as const;

/** A year. Without `includeSubDomains`: other hosts of the domain are not ours to speak for. */
const STRICT_TRANSPORT_SECURITY = 'max-age=31536000';

type Middleware = (request: Request, response: Response, next: NextFunction) => void;

/**
 * Sets them first, so that also errors have them. Ours rather than helmet's because what is left of it here is this
 * list: decisions/0015-protective-headers.md.
 *
 * @param hasProxy whether a trusted proxy may have taken https off: only then is a request known to have come by
 *   it, and only such an answer may insist on https (RFC 6797, section 7.2)
 */
export function protectiveHeaders(hasProxy: boolean): Middleware {
  const headers = Object.entries(PROTECTIVE_HEADERS);
  return (request, response, next) => {
    for (const [name, value] of headers) response.setHeader(name, value);
    if (hasProxy && request.secure)
      response.setHeader('Strict-Transport-Security', STRICT_TRANSPORT_SECURITY);
    next();
  };
}
