import type { VNode } from 'preact';
import { Catch, Injectable, mixin, type Type } from '@nestjs/common';
import type { Request, Response } from 'express';
import {
  DashboardSessionVerifier,
  INSUFFICIENT_ROLE,
  INVALID_ACCESS_TOKEN,
  RECENT_LOGIN_REQUIRED,
  SECOND_FACTOR_REQUIRED,
  sessionTokenOf,
  type DashboardIdentity,
} from '../auth/index.js';
import { METHOD_NOT_ALLOWED, NOT_FOUND, PAYLOAD_TOO_LARGE, type ApiError } from '../errors/index.js';
import {
  ExceptionFilter,
  FORM_LIMIT,
  isChangeFromOtherSite,
  readForm,
  type FormFields,
  type FormOptions,
} from '../http/index.js';
import { displayNameOf } from '../validation/index.js';
import { browserOf, FormTokens } from './form-tokens.js';
import type { OpenerPolicy } from './opener-policy.js';
import type { PageResponse } from './page.js';
import { withoutCookies } from './page.guards.js';
import { INVALID_FORM_TOKEN } from './pages-errors.js';
import { shortened } from './foreign-text.js';
import { Notice, noticePage } from './parts/elements.js';
import { Form, FORM_TOKEN_FIELD, PAGE_TOKEN_FIELD, TextArea, TextField } from './parts/form.js';
import { requestName } from './page-problem.js';
import { SEEN_FIELD } from './page-input.js';
import { cameFrom, MAX_LOCATION_LENGTH, PageRenderer } from './page.renderer.js';

/**
 * Shows errors as pages. Redirects to the login if the page requires one.
 *
 * @param form how the route reads its form, which the page of an error reads too if the request was refused before
 */
export function PageExceptionFilter(form: FormOptions, opener?: OpenerPolicy): Type<ExceptionFilter> {
  @Catch()
  class PageFilter extends ExceptionFilter {
    constructor(
      private readonly renderer: PageRenderer,
      private readonly tokens: FormTokens,
    ) {
      super();
    }

    protected override async bodyOf(error: ApiError, request: Request, response: Response): Promise<string> {
      // A form that requires a login came without our cookies: the user may be logged in all the same.
      const lacksCookies =
        requiresLogin(error) && request.method === 'POST' && browserOf(request) === undefined;
      const shown = lacksCookies ? withoutCookies(request) : error;
      const lost = keepsForm(shown, request) ? undefined : await lostForm(shown, request, response, form);
      const page =
        lost && this.mayBeShown(lost, request) ? sendAgainPage(shown, request, lost) : pageOf(shown, request);
      return this.renderer.render(request, response, page, undefined, opener);
    }

    /** A user neither sees nor sends what another one has entered before, in the same browser. */
    private mayBeShown(form: FormFields, { user }: Request): boolean {
      const token = form.get(FORM_TOKEN_FIELD) ?? '';
      return user === undefined || this.tokens.isOfUser(token, user as DashboardIdentity);
    }
  }
  return mixin(PageFilter);
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
    return this.renderer.render(request, response, pageOf(inPlainWords(error), request));
  }
}

/** The browser opened the address of a form when the user reloaded the response to it, for example. */
function inPlainWords(error: ApiError): ApiError {
  if (error.status === 404) return NOT_FOUND.error('There is no page at this address.');
  if (error.status === 405)
    return METHOD_NOT_ALLOWED.error('This address only receives forms.', error.options);
  return error;
}

const SECOND_FACTOR_PATH = '/account/second-factor';

function pageOf(error: ApiError, request: Request): PageResponse {
  if (keepsForm(error, request)) return { redirectTo: loginAgainPath(request), keepsForm: true };
  if (requiresLogin(error)) return { redirectTo: loginPath(error, request) };
  if (error.message === SECOND_FACTOR_REQUIRED) return { redirectTo: SECOND_FACTOR_PATH };
  return noticePage({
    title: titleOf(error),
    status: error.status,
    headers: error.headers,
    notice: noticeOf(error),
    text: adviceFor(error, request.method),
    links: {
      ...(error.status === 429 && request.method === 'GET' && { [request.originalUrl]: 'Try again' }),
      '/dashboard': 'Go to the overview',
    },
  });
}

const TITLES: Readonly<Record<number, string>> = {
  403: 'Not allowed',
  404: 'Not found',
  405: 'Not a page',
  413: 'Too large',
  429: 'Too many requests',
  503: 'Temporarily unavailable',
};

function titleOf({ status, code, message }: ApiError): string {
  if (code === INSUFFICIENT_ROLE.code) return 'Not allowed';
  if (message === INVALID_FORM_TOKEN.message) return 'Form out of date';
  return TITLES[status] ?? 'Something went wrong';
}

/** People see no headers. */
const withoutHeader = (message: string): string =>
  message.replace(/ Retry after the time in .* header\.$/, '');

const KIBIBYTE = 1_024;

/** Pages receive forms, whose limits are whole kilobytes or megabytes. */
function noticeOf({ status, message, options: { limit } }: ApiError): string {
  if (status !== PAYLOAD_TOO_LARGE.status || typeof limit !== 'number') return withoutHeader(message);
  const size = limit / KIBIBYTE;
  return `The form is too large. It can have at most ${size < KIBIBYTE ? `${size} KB` : `${size / KIBIBYTE} MB`}.`;
}

function adviceFor({ status, code, message }: ApiError, method: string): string {
  if (code === INSUFFICIENT_ROLE.code)
    return 'Ask an admin or owner of your organization to do it, or to change your role.';
  if (message === INVALID_FORM_TOKEN.message)
    return 'To do so, go back, reload the page, and enter everything again. Nothing was changed.';
  if (status === 413)
    return 'Go back, shorten what you entered or choose a smaller file, and send the form again. Nothing was changed.';
  if (status === 404)
    return 'The page may have been removed, or the address has a typo. Nothing was changed.';
  if (status === 429 && method === 'GET') return 'Wait, then try again.';
  if (status === 429) return 'Wait, then go back and try again. Nothing was changed.';
  if (status === 405) return 'Open the page with the form, and send it from there. Nothing was changed.';
  // The database may have committed a change whose confirmation was lost.
  if (status === 503 && method === 'POST')
    return 'It is not known whether anything was changed. Look at it again in a few seconds, before you send the form again.';
  if (status === 503) return 'Try again in a few seconds.';
  return 'Go back and try again. If it happens again, tell an admin of your organization.';
}

/** Characters of the page that the login leads to. */
const MAX_NEXT_LENGTH = 800;
/** Bytes. The steps of the login carry the form as one field, in which quotation marks and line breaks are longer. */
const MAX_CARRIED_FORM = FORM_LIMIT / 3;

/** Returns whether the login continues with the form: it was sent by a user whose login is not recent enough, and is short. */
function keepsForm({ message }: ApiError, request: Request): boolean {
  const { method, headers, user } = request;
  // A script shows the login in its own way.
  const isOfScript = headers['sec-fetch-dest'] === 'empty';
  return (
    message === RECENT_LOGIN_REQUIRED &&
    method === 'POST' &&
    user !== undefined &&
    !isOfScript &&
    !isChangeFromOtherSite(request) &&
    URLENCODED.test(headers['content-type'] ?? '') &&
    Number(headers['content-length'] ?? Infinity) <= MAX_CARRIED_FORM &&
    loginAgainPath(request).length <= MAX_LOCATION_LENGTH
  );
}

const URLENCODED = /^application\/x-www-form-urlencoded/i;

/**
 * Returns a form of ours that was not accepted because it is out of date or came without cookies, because the user was logged
 * out in the meantime or sent too many, or because it requires a recent login or a second factor.
 */
async function lostForm(
  error: ApiError,
  request: Request,
  response: Response,
  options: FormOptions,
): Promise<FormFields | undefined> {
  const isLost =
    requiresLogin(error) ||
    [INVALID_FORM_TOKEN.message, withoutCookies(request).message, SECOND_FACTOR_REQUIRED].includes(
      error.message,
    ) ||
    (error.status === 429 && request.user !== undefined);
  if (!isLost || request.method !== 'POST' || isChangeFromOtherSite(request)) return undefined;
  if (!URLENCODED.test(request.headers['content-type'] ?? '')) return undefined;
  const form =
    (request.body as FormFields | undefined) ??
    (await readForm(request, response, { ...options, limit: limitOf(request, options) }).catch(
      () => undefined,
    ));
  return form && keptFields(form).length > 0 ? form : undefined;
}

/** Bytes. Writing 1 MiB of quotation marks into a page takes 170 ms, in which nobody else is served: more than a stranger may take. */
const STRANGERS_LIMIT = 393_216;

function limitOf({ user }: Request, { limit = FORM_LIMIT }: FormOptions): number {
  return user ? limit : Math.min(limit, STRANGERS_LIMIT);
}

function requiresLogin({ code }: ApiError): boolean {
  return code === INVALID_ACCESS_TOKEN.code;
}

const OUR_FIELDS: ReadonlySet<string> = new Set([FORM_TOKEN_FIELD, PAGE_TOKEN_FIELD]);
/** Fields that must not be in a page again, and the tokens, which are replaced. An architecture test compares them with the forms. */
const SECRET_FIELD =
  /password|secret|credential|^authorization$|^header_lines$|(?:^|_)token$|^code$|^(?:recovery|two_factor|connection|user)_code$/;
/** The address and the field of a form with a password that the user has, here or at a merchant. */
const OWN_PASSWORD = /^\/(?:login|account|sign-in)\S* (?:current_)?password$/;
/** Secrets of several lines. */
const HAS_LINES = /_lines$/;

function keptFields(form: FormFields): [name: string, value: string][] {
  return form.entries().filter(([name]) => !SECRET_FIELD.test(name));
}

/** A form that is sent again: without its tokens and secrets. */
export interface SentForm {
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** The names of the secrets that it had. */
  readonly secrets: readonly string[];
}

/** Returns what a form contains that is sent again. */
export function sentFormOf(form: FormFields): SentForm {
  const isOurs = ([name]: readonly [string, string]): boolean => OUR_FIELDS.has(name);
  const secrets = form.entries().filter(([name, value]) => value !== '' && SECRET_FIELD.test(name));
  return {
    fields: keptFields(form).filter((field) => !isOurs(field)),
    secrets: secrets.filter((field) => !isOurs(field)).map(([name]) => name),
  };
}

/** Shows what a form contains, which its button sends again. Secrets have to be entered again. */
export function SendAgain({
  action,
  form: { fields, secrets },
  button,
}: {
  readonly action: string;
  readonly form: SentForm;
  readonly button: string;
}): VNode {
  return (
    <>
      <ul>
        {fields
          .filter(([name, value]) => name !== SEEN_FIELD && value !== '')
          .map(([name, value], index) => (
            <li key={index}>
              {displayNameOf(requestName(name))}: {value.length > MAX_SHOWN_VALUE ? shortened(value) : value}
            </li>
          ))}
      </ul>
      <Form action={action}>
        {fields.map(([name, value], index) => (
          <input key={index} type="hidden" name={name} value={value} />
        ))}
        {secrets.map((name) => {
          const label = `Enter the ${displayNameOf(name)} again`;
          return HAS_LINES.test(name) ? (
            <TextArea key={name} name={name} label={label} rows={3} />
          ) : (
            <TextField
              key={name}
              name={name}
              label={label}
              type="password"
              {...(OWN_PASSWORD.test(`${action} ${name}`) && { autocomplete: 'current-password' })}
            />
          );
        })}
        <button>{button}</button>
      </Form>
    </>
  );
}

/** Characters. A longer value is a file that was pasted. */
const MAX_SHOWN_VALUE = 1_000;

/**
 * Keeps what the user typed, so that they can send it again. If they have to log in first, the script of the page takes the
 * values to the form, so that they never appear in an address.
 */
function sendAgainPage(error: ApiError, request: Request, form: FormFields): PageResponse {
  const sent = sentFormOf(form);
  return {
    title: 'Send the form again',
    status: error.status,
    shownAgain: form.get(FORM_TOKEN_FIELD),
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
        {error.message === SECOND_FACTOR_REQUIRED ? (
          <p>
            <a href={SECOND_FACTOR_PATH} target="_blank">
              Set up the second factor in a new tab
            </a>
            . Then come back to this page.
          </p>
        ) : null}
        <p>
          This page keeps what you entered{sent.secrets.length > 0 ? ', except for passwords and codes' : ''}.
          Send it again, and check the result.
        </p>
        <SendAgain action={request.originalUrl} form={sent} button="Send again" />
      </>
    ),
  };
}

function reasonOf(error: ApiError): string {
  if (error.message === RECENT_LOGIN_REQUIRED) return 'Your login was too long ago for this.';
  return requiresLogin(error) ? 'You were logged out in the meantime.' : withoutHeader(error.message);
}

/** Returns the address of the login. `again` says why users who are logged in have to log in: for a page or a form. */
function loginPath({ message }: ApiError, request: Request): string {
  const isForm = request.method !== 'GET';
  const next = isForm ? pageBefore(request) : request.originalUrl;
  const again = message === RECENT_LOGIN_REQUIRED && { again: isForm ? 'form' : 'page' };
  return `/login?${new URLSearchParams({ next, ...again })}`;
}

/** Returns the address that asks for a login before it continues with the form that was sent to it. */
function loginAgainPath(request: Request): string {
  return `/login/again?${new URLSearchParams({ to: request.originalUrl, next: pageBefore(request) })}`;
}

/** Returns the page that the form was on, where the user starts again after the login: without its filters if they are too long. */
function pageBefore(request: Request): string {
  const page = cameFrom(request) ?? request.path;
  return page.length > MAX_NEXT_LENGTH ? (page.split('?')[0] ?? page) : page;
}
