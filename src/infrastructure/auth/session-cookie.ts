import type { Request, Response } from 'express';
import { clearCookie, cookieOf, setCookie } from '../http/index.js';

const NAME = 'session';

/** Returns the token in the session cookie, if there is one. */
export function sessionTokenOf(request: Request): string | undefined {
  return cookieOf(request, NAME);
}

/** Sets the session cookie, which expires with the session. */
export function setSessionCookie(response: Response, token: string, expires: Date): void {
  setCookie(response, NAME, token, expires);
}

/** Deletes the session cookie. */
export function clearSessionCookie(response: Response): void {
  clearCookie(response, NAME);
}
