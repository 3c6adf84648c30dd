import type { Request, Response } from 'express';
import { clearCookie, cookieOf, setCookie } from '../http/index.js';

const SESSION_COOKIE = 'session';

/** Returns the token in the session cookie, if there is one. */
export function sessionTokenOf(request: Request): string | undefined {
  return cookieOf(request, SESSION_COOKIE);
}

/** Sets the session cookie, which expires with the session. */
export function setSessionCookie(response: Response, token: string, expires: Date): void {
  setCookie(response, SESSION_COOKIE, token, expires);
}

/** Deletes the session cookie. */
export function clearSessionCookie(response: Response): void {
  clearCookie(response, SESSION_COOKIE);
}
