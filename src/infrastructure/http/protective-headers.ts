import type { NextFunction, Request, Response } from 'express';

/**
 * Headers of every response, unless its route overrides them: no caching, no frames, no scripts, no content
 * sniffing, no use by other sites, no referrer. Pages and the documentation have their own policies.
 */
export const PROTECTIVE_HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
} as const;

/** One year. Without `includeSubDomains`, because other hosts of the domain are not part of this service. */
const STRICT_TRANSPORT_SECURITY = 'max-age=31536000';

type Middleware = (request: Request, response: Response, next: NextFunction) => void;

/**
 * Sets the headers before anything else, so that errors have them, too. docs/decisions/0015-protective-headers.md
 * explains why helmet is not used.
 *
 * @param hasProxy whether a trusted proxy terminates TLS. Without a proxy, the service cannot know that a request came
 * over https, and only a response over https may require https (RFC 6797, section 7.2)
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
