import { Catch, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import {
  DashboardSessionVerifier,
  RECENT_LOGIN_REQUIRED,
  SECOND_FACTOR_REQUIRED,
  sessionTokenOf,
} from '../auth/index.js';
import { INSUFFICIENT_ROLE, INVALID_ACCESS_TOKEN, NOT_FOUND, type ApiError } from '../errors/index.js';
import { ExceptionFilter, isCrossSiteRequest, readForm, type FormFields } from '../http/index.js';
import type { PageResponse } from './page.js';
import { INVALID_FORM_TOKEN, NO_COOKIES } from './page.guards.js';
import { Notice, noticePage } from './parts/elements.js';
import { Form, FORM_TOKEN_FIELD, PAGE_TOKEN_FIELD } from './parts/form.js';
import { inWords } from './page-words.js';
import { SEEN_FIELD } from './submitted.js';
import { cameFrom, PageRenderer } from './page.renderer.js';

/** Shows errors as pages. Redirects to the login if the page requires one. */
@Catch()
export class PageExceptionFilter extends ExceptionFilter {
  constructor(private readonly renderer: PageRenderer) {
    super();
  }

  protected override async bodyOf(error: ApiError, request: Request, response: Response): Promise<string> {
    // A form that requires a login came without any cookie: the user may be logged in all the same.
    const lacksCookies = requiresLogin(error) && request.method === 'POST' && !request.headers.cookie;
    const shown = lacksCookies ? INVALID_FORM_TOKEN.error(NO_COOKIES) : error;
    const form = await lostForm(shown, request, response);
    const page = form ? sendAgainPage(shown, request, form) : pageOf(shown, request);
    return this.renderer.render(request, response, page);
  }
}

const DASHBOARD_ADDRESS = /^\/(?:dashboard|account)\//;

/** The pages that logged-in users get at addresses of the dashboard that do not exist. */
@Injectable()
export class UnknownPages {
  constructor(
    private readonly sessions: DashboardSessionVerifier,
    private readonly renderer: PageRenderer,
  ) {}

  /** Returns undefined for everyone else, and for other addresses. */
  async show(error: ApiError, request: Request, response: Response): Promise<string | undefined> {
    const token = DASHBOARD_ADDRESS.test(request.path) ? sessionTokenOf(request) : undefined;
    const user = token === undefined ? undefined : await this.sessions.verify(token);
    if (!user || user.lacksSecondFactor) return undefined;
    request.user = user;
    const shown = error.status === 404 ? NOT_FOUND.error('There is no page at this address.') : error;
    return this.renderer.render(request, response, pageOf(shown, request));
  }
}

function pageOf(error: ApiError, request: Request): PageResponse {
  if (requiresLogin(error)) return { redirectTo: loginPath(error, request) };
  if (error.message === SECOND_FACTOR_REQUIRED) return { redirectTo: '/account/second-factor' };
  return noticePage({
    title: titleOf(error),
    status: error.status,
    headers: error.headers,
    notice: withoutHeader(error.message),
    text: adviceFor(error),
    links: { '/dashboard': 'Go to the overview' },
  });
}

const TITLES: Readonly<Record<number, string>> = {
  403: 'Not allowed',
  404: 'Not found',
  413: 'Too large',
  429: 'Too many requests',
  503: 'Temporarily unavailable',
};

function titleOf({ status, code }: ApiError): string {
  if (code === INSUFFICIENT_ROLE.code) return 'Not allowed';
  return TITLES[status] ?? 'Something went wrong';
}

/** People see no headers. */
const withoutHeader = (message: string): string =>
  message.replace(/ Retry after the time in .* header\.$/, '');

function adviceFor({ status, code }: ApiError): string {
  if (code === INSUFFICIENT_ROLE.code)
    return 'Ask an admin or owner of your organization to do it, or to change your role.';
  if (status === 404)
    return 'The page may have been removed, or the address has a typo. Nothing was changed.';
  if (status === 429) return 'Wait, then go back and try again. Nothing was changed.';
  if (status === 503) return 'Try again in a few seconds. Nothing was changed.';
  return 'Go back and try again. If it happens again, tell an admin of your organization.';
}

const URLENCODED = /^application\/x-www-form-urlencoded/i;

/**
 * Returns a form of ours that was not accepted because it is out of date or came without cookies, because the user was logged
 * out in the meantime, or because it requires a recent login.
 */
async function lostForm(
  error: ApiError,
  request: Request,
  response: Response,
): Promise<FormFields | undefined> {
  const isLost = requiresLogin(error) || [INVALID_FORM_TOKEN.message, NO_COOKIES].includes(error.message);
  if (!isLost || request.method !== 'POST' || isCrossSiteRequest(request)) return undefined;
  if (!URLENCODED.test(request.headers['content-type'] ?? '')) return undefined;
  const form =
    (request.body as FormFields | undefined) ?? (await readForm(request, response).catch(() => undefined));
  return form && keptFields(form).length > 0 ? form : undefined;
}

function requiresLogin({ code }: ApiError): boolean {
  return code === INVALID_ACCESS_TOKEN.code;
}

const OUR_FIELDS: ReadonlySet<string> = new Set([FORM_TOKEN_FIELD, PAGE_TOKEN_FIELD]);
/** Fields that must not be in a page again, and the tokens, which are replaced. */
const SECRET_FIELD =
  /password|secret|credential|(?:^|_)token$|^code$|^(?:recovery|two_factor|connection|user)_code$/;

function keptFields(form: FormFields): [name: string, value: string][] {
  return form.entries().filter(([name]) => !SECRET_FIELD.test(name));
}

/**
 * Keeps what the user typed, so that they can send it again. If they have to log in first, the script of the page takes the
 * values to the form, so that they never appear in an address.
 */
function sendAgainPage(error: ApiError, request: Request, form: FormFields): PageResponse {
  const kept = keptFields(form);
  const hasSecrets = form.entries().some(([name]) => !OUR_FIELDS.has(name) && SECRET_FIELD.test(name));
  return {
    title: 'Send the form again',
    status: error.status,
    ...(requiresLogin(error) && !request.user ? { script: '/pages.js' } : {}),
    content: (
      <>
        <Notice kind="bad">{reasonOf(error)} Nothing was changed.</Notice>
        {requiresLogin(error) ? (
          <p>
            <a class="log-in" href={loginPath(error, request)} target="_blank">
              Log in in a new tab
            </a>
            . Then come back to this page.
          </p>
        ) : null}
        <p>
          This page keeps what you entered{hasSecrets ? ', except for passwords and codes' : ''}. Send it
          again, and check the result.
        </p>
        <ul>
          {kept
            .filter(([name]) => name !== SEEN_FIELD)
            .map(([name, value], index) => (
              <li key={index}>
                {inWords(name)}: {value}
              </li>
            ))}
        </ul>
        <Form action={request.originalUrl}>
          {kept.map(([name, value], index) => (
            <input key={index} type="hidden" name={name} value={value} />
          ))}
          <button>Send again</button>
        </Form>
      </>
    ),
  };
}

function reasonOf(error: ApiError): string {
  if (error.message === RECENT_LOGIN_REQUIRED)
    return 'Your login was more than 5 minutes ago, and this requires a recent one.';
  return requiresLogin(error) ? 'You were logged out in the meantime.' : error.message;
}

/** Returns the address of the login. `again` says why users who are logged in have to log in: for a page or a form. */
function loginPath({ message }: ApiError, request: Request): string {
  const isForm = request.method !== 'GET';
  // After the login, the user starts again on the page that the form was on.
  const next = isForm ? (cameFrom(request) ?? request.path) : request.originalUrl;
  const again = message === RECENT_LOGIN_REQUIRED && { again: isForm ? 'form' : 'page' };
  return `/login?${new URLSearchParams({ next, ...again })}`;
}
