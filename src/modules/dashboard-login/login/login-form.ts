import type { Request } from 'express';
import { requestOrigin, type FormFields, type RequestOrigin } from '../../../infrastructure/http/index.js';
import { browserOf } from '../../../infrastructure/pages/index.js';

/** The browser that sent a form. */
export interface LoginBrowser {
  readonly origin: RequestOrigin;
  /** The value of the browser's cookie. */
  readonly browser: string;
}

export function loginBrowserOf(request: Request): LoginBrowser {
  return { origin: requestOrigin(request), browser: browserOf(request) ?? '' };
}

/** Returns the email address of a form, trimmed and in lowercase as it is stored; undefined if the field is blank. */
export function emailFromForm(form: FormFields): string | undefined {
  return form.get('email')?.trim().toLowerCase() || undefined;
}
