import type { Request, Response } from 'express';
import { cookieOf, setCookie } from '../http/index.js';
import { MINUTE } from '../time/index.js';
import type { PageResponse } from './page.js';

/**
 * Which responses of a route let the window that opened them find them again. Agents in a browser open the pages that connect them in a
 * window of their own, which loses its opener for good at the first response without this, also if the response is an error.
 *
 * - `kept`: all.
 * - `kept beyond the login`: all, and those of the login that the page may require.
 * - `kept for agents`: those in a browser that was at a page with `kept beyond the login` shortly before.
 */
export type OpenerPolicy = 'kept' | 'kept beyond the login' | 'kept for agents';

const COOKIE = 'agent_window';
/** As long as an agent waits for its user. */
const COOKIE_LIFETIME = 10 * MINUTE;
const KEPT = { 'Cross-Origin-Opener-Policy': 'unsafe-none' };

/** Returns the headers of every response of a route, also of errors and redirects. */
export function openerHeaders(
  policy: OpenerPolicy | undefined,
  request: Request,
  response: Response,
  now: Date,
): PageResponse['headers'] {
  if (policy === undefined || (policy === 'kept for agents' && cookieOf(request, COOKIE) === undefined))
    return {};
  if (policy === 'kept beyond the login')
    setCookie(response, COOKIE, '1', new Date(now.getTime() + COOKIE_LIFETIME));
  return KEPT;
}
