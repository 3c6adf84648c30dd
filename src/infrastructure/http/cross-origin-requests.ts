import cors from 'cors';
import type { NextFunction, Request, Response } from 'express';

/**
 * Paths that pages of other origins may request. Their operations take no credentials of an organization, which do not
 * belong in a browser; the token of an agent is for one user.
 */
const PATHS: ReadonlySet<string> = new Set([
  '/session/open',
  '/apply',
  '/mcp',
  '/openapi.json',
  '/openapi-3.0.json',
  '/openapi.yaml',
]);

const EXPOSED_HEADERS = [
  'X-Request-Id',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'Link',
  'WWW-Authenticate',
];

/** Seconds for which browsers may cache the response to a preflight request. Chromium allows at most two hours. */
const PREFLIGHT_MAX_AGE = 7_200;

type Middleware = (request: Request, response: Response, next: NextFunction) => void;

/**
 * Allows browsers to request `PATHS` from pages of these origins, without cookies, and responds to their preflight
 * requests.
 *
 * @param origins `*` stands for all origins; without any, all cross-origin requests are refused
 */
export function crossOriginRequests(origins: readonly string[]): Middleware {
  const allow = cors({
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'HEAD', 'POST'],
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_MAX_AGE,
  });
  return (request, response, next) => {
    if (origins.length > 0 && PATHS.has(request.path)) allow(request, response, next);
    else next();
  };
}
