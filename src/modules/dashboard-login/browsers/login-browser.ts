import type { Request } from 'express';
import { requestOrigin, type RequestOrigin } from '../../../infrastructure/http/index.js';
import { browserOf } from '../../../infrastructure/pages/index.js';

/** The browser that sent a form. */
export interface LoginBrowser {
  readonly origin: RequestOrigin;
  /** The value of the browser's cookie. */
  readonly browser: string;
}

/** Returns the browser that sent the form of the request. */
export function loginBrowserOf(request: Request): LoginBrowser {
  return { origin: requestOrigin(request), browser: browserOf(request) ?? '' };
}
