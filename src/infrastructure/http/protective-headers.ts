import { Injectable, type NestMiddleware } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { HttpConfiguration } from './http.configuration.js';

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
const HEADERS = Object.entries(PROTECTIVE_HEADERS);

/** One year. Without `includeSubDomains`, because other hosts of the domain are not part of this service. */
const STRICT_TRANSPORT_SECURITY = 'max-age=31536000';

/**
 * Sets the headers before anything else, so that errors have them, too. docs/decisions/0015-protective-headers.md
 * explains why helmet is not used.
 */
@Injectable()
export class ProtectiveHeaders implements NestMiddleware {
  /** Whether a trusted proxy terminates TLS: only a response over https may require https (RFC 6797, section 7.2). */
  private readonly hasProxy = this.configuration.trustedProxyHops > 0;

  constructor(private readonly configuration: HttpConfiguration) {}

  readonly use = (request: Request, response: Response, next: NextFunction): void => {
    for (const [name, value] of HEADERS) response.setHeader(name, value);
    if (this.hasProxy && request.secure)
      response.setHeader('Strict-Transport-Security', STRICT_TRANSPORT_SECURITY);
    next();
  };
}
