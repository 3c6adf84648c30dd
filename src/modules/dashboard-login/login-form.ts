import type { Request } from 'express';
import { requestOrigin, type FormFields, type RequestOrigin } from '../../infrastructure/http/index.js';
import { browserOf, type PageResponse } from '../../infrastructure/pages/index.js';
import { HOME, safeRedirectPath } from './safe-redirect-path.js';

export interface LoginBrowser {
  readonly origin: RequestOrigin;
  /** The value of the browser's cookie. */
  readonly browser: string;
}

/** Where a login leads. */
export interface LoginTarget {
  /** Where to go after the login. */
  readonly next: string;
  /**
   * Why the user has to log in again: to open a page, to submit a form, whose input may be kept for it, or to enter a code, for which
   * there was no more time.
   */
  readonly again: Again | undefined;
  /** The form that the user sends after the login, as JSON. */
  readonly sent?: string | undefined;
}

const REASONS = ['page', 'form', 'kept', 'code'] as const;
type Again = (typeof REASONS)[number];

export function loginTarget(next: unknown, again: unknown): LoginTarget {
  return { next: safeRedirectPath(next), again: REASONS.find((each) => each === again) };
}

export function loginTargetOf(form: FormFields): LoginTarget {
  return { ...loginTarget(form.get('next'), form.get('again')), sent: form.get('sent') };
}

/** The page after a login in a dialog or another tab. */
export const LOGGED_IN_PATH = '/account/logged-in';
/** The page that continues with the form of a `LoginTarget`. */
export const CONTINUE_PATH = '/login/continue';

/** Returns where a completed login leads. */
export function afterLogin({ next, sent }: Pick<LoginTarget, 'next' | 'sent'>): PageResponse {
  return sent === undefined ? { redirectTo: next } : { redirectTo: CONTINUE_PATH, keepsForm: true };
}

/** Returns the browser that sent a request. */
export function loginBrowserOf(request: Request): LoginBrowser {
  return { origin: requestOrigin(request), browser: browserOf(request) ?? '' };
}

/** Returns the email address of a form, trimmed and in lowercase as it is stored; undefined if the field is blank. */
export function emailFromForm(form: FormFields): string | undefined {
  return form.get('email')?.trim().toLowerCase() || undefined;
}

/** Returns the path of a step of the login, with the page to open after the login. */
export function withNext(path: string, next: string): string {
  return next === HOME ? path : `${path}?next=${encodeURIComponent(next)}`;
}
