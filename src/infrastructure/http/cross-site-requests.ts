import type { Request } from 'express';
import { parsedUrl } from '../urls/index.js';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Returns whether a page of another site made the browser send a request that may change something. */
export function isCrossSiteRequest(request: Request): boolean {
  return !SAFE_METHODS.has(request.method) && isFromOtherSite(request);
}

/**
 * Returns whether a page of another site made the browser send this request. Browsers report the site in
 * `Sec-Fetch-Site`, older browsers in `Origin`. Other programs send neither header, and have no cookies that could be
 * abused.
 */
export function isFromOtherSite(request: Request): boolean {
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  const { origin } = request.headers;
  if (origin === undefined) return false;
  const url = parsedUrl(origin);
  return url === undefined || url.host !== request.headers.host;
}
