import { parseCookie } from 'cookie';
import type { CookieOptions, Request, Response } from 'express';
import { isLoopback, parsedUrl } from '../config/index.js';
import { withoutRootDot } from '../http-client/index.js';

/**
 * Returns whether cookies are Secure. They are not over http on a development machine, where browsers would ignore
 * them.
 */
function isSecure(request: Request): boolean {
  return request.secure || !isAtLoopback(request);
}

/**
 * The `__Host-` prefix makes browsers require Secure, the path / and no Domain, so that no other host of
 * the domain can set the cookie (RFC 6265bis, section 4.1.3.2).
 */
function nameFor(request: Request, name: string): string {
  return isSecure(request) ? `__Host-${name}` : name;
}

function attributesFor(request: Request): CookieOptions {
  return { httpOnly: true, sameSite: 'lax', path: '/', secure: isSecure(request) };
}

/**
 * Returns whether a browser opened the page over http from another machine: it does not keep our cookies then, which are Secure. Over
 * https, browsers say in `Sec-Fetch-Site` where a request comes from, also if a proxy that is not trusted terminates TLS.
 */
export function losesCookies(request: Request): boolean {
  const isHttps = request.secure || request.headers['sec-fetch-site'] !== undefined;
  return !isHttps && !isAtLoopback(request);
}

/** Health checks of proxies with HTTP/1.0, or with an empty header, name no host. */
function isAtLoopback({ hostname }: { readonly hostname?: string }): boolean {
  return isLoopback(hostname ?? '');
}

/** The message to users whose browsers lose cookies. */
export const OVER_HTTP =
  'This page was opened with an http address, and browsers keep the cookies of this service only over https, or at localhost. Open it with its https address.';

/** Returns the value of a cookie that `setCookie` set, if the browser sent it. */
export function cookieOf(request: Request, name: string): string | undefined {
  return parseCookie(request.headers.cookie ?? '')[nameFor(request, name)];
}

/** Sets a cookie that scripts cannot read and that browsers do not send with forms of other sites. */
export function setCookie(response: Response, name: string, value: string, expires: Date): void {
  response.cookie(nameFor(response.req, name), value, { ...attributesFor(response.req), expires });
}

/** Deletes a cookie from the browser. */
export function clearCookie(response: Response, name: string): void {
  response.clearCookie(nameFor(response.req, name), attributesFor(response.req));
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Returns whether a page of another site made the browser send a request that may change something. */
export function isChangeFromOtherSite(request: Request): boolean {
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
  return url === undefined || url.host !== hostOf(request, url.protocol);
}

/** Returns the host that a request names, as URLs with this scheme write it: some proxies add the default port. */
export function hostOf({ headers }: Request, protocol: string): string | undefined {
  const url = parsedUrl(`${protocol}//${headers.host}`);
  return url && withoutRootDot(url.hostname) + (url.port && `:${url.port}`);
}
