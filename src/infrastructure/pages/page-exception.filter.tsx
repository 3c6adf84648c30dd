import { Catch } from '@nestjs/common';
import type { Request, Response } from 'express';
import { RECENT_LOGIN_REQUIRED, SECOND_FACTOR_REQUIRED } from '../auth/index.js';
import { INSUFFICIENT_ROLE, INVALID_ACCESS_TOKEN, type ApiError } from '../errors/index.js';
import { ExceptionFilter } from '../http/index.js';
import { parsedUrl } from '../config/index.js';
import type { PageResponse } from './page.js';
import { Notice } from './parts/elements.js';
import { PageRenderer } from './page.renderer.js';

/** Shows errors as pages. Redirects to the login if the page requires one. */
@Catch()
export class PageExceptionFilter extends ExceptionFilter {
  constructor(private readonly renderer: PageRenderer) {
    super();
  }

  protected override bodyOf(error: ApiError, request: Request, response: Response): string {
    return this.renderer.render(request, response, pageOf(error, request));
  }
}

function pageOf(error: ApiError, request: Request): PageResponse {
  if (error.code === INVALID_ACCESS_TOKEN.code) {
    return { redirectTo: `/login?${new URLSearchParams(loginParameters(error, request))}` };
  }
  if (error.message === SECOND_FACTOR_REQUIRED) return { redirectTo: '/account/second-factor' };
  return {
    title: error.code === INSUFFICIENT_ROLE.code ? 'Not allowed' : 'Something went wrong',
    status: error.status,
    headers: error.headers,
    content: <Notice kind="bad">{error.message}</Notice>,
  };
}

/** Says where to go after the login, and `again` says why users who are logged in have to log in: for a page or a form. */
function loginParameters({ message }: ApiError, request: Request): Record<string, string> {
  const isForm = request.method !== 'GET';
  // A submitted form is lost: after the login, the user starts again on the page that the form was on.
  const next = isForm ? formPageOf(request) : request.originalUrl;
  return { next, ...(message === RECENT_LOGIN_REQUIRED && { again: isForm ? 'form' : 'page' }) };
}

/** Returns the page that a form was sent from, as far as the browser says so. */
function formPageOf({ headers: { referer = '', host }, path }: Request): string {
  const page = parsedUrl(referer);
  if (!page || page.host !== host) return path;
  page.searchParams.delete('done');
  return page.pathname + page.search;
}
