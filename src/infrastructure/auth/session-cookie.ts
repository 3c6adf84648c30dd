import type { Request, Response } from 'express';
import { clearCookie, cookieOf, setCookie } from '../http/index.js';

const NAME = 'session';

/** The token of the browser's login, if it sent one. */
export function sessionTokenOf(request: Request): string | undefined {
  return cookieOf(request, NAME);
}

/** Hands the browser the token of its login, for as long as the login lasts. */
export function setSessionCookie(response: Response, token: string, expires: Date): void {
  setCookie(response, NAME, token, expires);
}

/** Takes the login's token away from the browser. */
export function clearSessionCookie(response: Response): void {
  clearCookie(response, NAME);
}
