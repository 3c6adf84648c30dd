import { parseCookie } from 'cookie';
import type { CookieOptions, Request, Response } from 'express';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]', '::1']);

/** Browsers keep no Secure cookie of http, and on a developer's machine there is nothing else. */
function isSecure(request: Request): boolean {
  return request.secure || !LOOPBACK.has(request.hostname);
}

/**
 * The `__Host-` prefix makes browsers insist on Secure, on the path / and on no Domain, so that no
 * neighbouring host can plant the cookie (RFC 6265bis, section 4.1.3.2).
 */
function nameFor(request: Request, name: string): string {
  return isSecure(request) ? `__Host-${name}` : name;
}

function attributesFor(request: Request): CookieOptions {
  return { httpOnly: true, sameSite: 'lax', path: '/', secure: isSecure(request) };
}

/** The value of one of our cookies, if the browser sent it. */
export function cookieOf(request: Request, name: string): string | undefined {
  return parseCookie(request.headers.cookie ?? '')[nameFor(request, name)];
}

/** Has the browser keep a cookie that no script and no other site's form can use. */
export function setCookie(response: Response, name: string, value: string, expires: Date): void {
  response.cookie(nameFor(response.req, name), value, { ...attributesFor(response.req), expires });
}

/** Has the browser forget a cookie. */
export function clearCookie(response: Response, name: string): void {
  response.clearCookie(nameFor(response.req, name), attributesFor(response.req));
}
