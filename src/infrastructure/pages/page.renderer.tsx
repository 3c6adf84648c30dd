import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { DashboardIdentity } from '../auth/index.js';
import type { ApiErrorOptions } from '../errors/index.js';
import { parsedUrl, ServiceConfiguration, type PlatformEnvironment } from '../config/index.js';
import { KeyedQueue } from '../queues/index.js';
import {
  clearCookie,
  clientAddress,
  cookieOf,
  environmentOf,
  pathAndQuery,
  rateLimitKeyOfAddress,
  setCookie,
  type FormFields,
} from '../http/index.js';
import { Clock, DAY, MINUTE } from '../time/index.js';
import { FormTokens } from './form-tokens.js';
import { Layout } from './layout.js';
import { openerHeaders, type OpenerPolicy } from './opener-policy.js';
import type { PageContext, PageResponse, SavedFilter } from './page.js';
import { shortened } from './foreign-text.js';
import { PageProblem } from './page-problem.js';
import { Foreign, Notice } from './parts/elements.js';
import { RecentLogins } from './recent-logins.js';
import { timeZoneOf } from './time-zones.js';

const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
/** Pages of logged-in users, and pages with a script, may also run our own scripts, which send requests to this service only. */
const POLICY_WITH_SCRIPTS = `${POLICY}; script-src 'self'; connect-src 'self'`;

const PAGE_TOKEN_BYTES = 12;

/** Headers of pages, which add to or override those of every response: no external resources, no framing. */
const HEADERS = {
  // With 'no-referrer', browsers would send `Origin: null` with our own forms, which would then look like those of
  // another site.
  'Referrer-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
  // Other sites' windows get no reference to ours. See `OpenerPolicy`.
  'Cross-Origin-Opener-Policy': 'same-origin',
  // Search engines find links to pages in places that were not meant to be public.
  'X-Robots-Tag': 'noindex, nofollow',
};

/** Remembers the environment, so that pages of the whole organization lead back to it. */
const ENVIRONMENT_COOKIE = 'environment';
const ENVIRONMENT_COOKIE_LIFETIME = 365 * DAY;

/** Names what a form has done, until the next page has shown it. An address alone cannot make a page say so. */
const DONE_COOKIE = 'done';
const DONE_COOKIE_LIFETIME = MINUTE;

/** The environments that pages of the dashboard show. */
@Injectable()
export class PageEnvironments {
  constructor(private readonly configuration: ServiceConfiguration) {}

  get served(): readonly PlatformEnvironment[] {
    return this.configuration.environments;
  }

  /** Returns the environment that the page shows, or else the one that the browser last showed. */
  of(request: Request): PlatformEnvironment {
    const wanted: readonly unknown[] = [environmentOf(request.path), cookieOf(request, ENVIRONMENT_COOKIE)];
    const found = wanted.flatMap((name) => this.served.filter((each) => each === name));
    return found[0] ?? this.served[0] ?? 'development';
  }
}

/** Renders pages to HTML, with the navigation and form tokens of the session. */
@Injectable()
export class PageRenderer {
  /**
   * By organization, or address. Rendering a page takes up to 20 ms, in which the process does nothing else: in each turn of the event
   * loop, an organization gets one page.
   */
  private readonly renderings = new KeyedQueue(1, { maxWaiting: Infinity });

  constructor(
    private readonly tokens: FormTokens,
    private readonly environments: PageEnvironments,
    private readonly recentLogins: RecentLogins,
    private readonly clock: Clock,
  ) {}

  /**
   * @param savedFilters those of the user for this list; undefined if the page is no list with filters
   * @param opener whether the window that opened the page keeps its reference
   * @returns the body. Status and headers are set on the response.
   */
  async render(
    request: Request,
    response: Response,
    page: PageResponse,
    savedFilters?: readonly SavedFilter[],
    opener?: OpenerPolicy,
  ): Promise<string> {
    const user = request.user as DashboardIdentity | undefined;
    response
      .set(HEADERS)
      .set('Content-Security-Policy', policyOf(page, user !== undefined || 'script' in page))
      .set(page.headers ?? {})
      .set(openerHeaders(opener, request, response, this.clock.now()))
      .type('html');
    if ('redirectTo' in page) {
      this.rememberDone(response, page.redirectTo);
      response.status(page.keepsForm ? 307 : 303).location(fitting(page.redirectTo));
      return '';
    }
    const done = consumeDone(request, response);
    const pageToken = randomBytes(PAGE_TOKEN_BYTES).toString('base64url');
    const hasAddress = request.method === 'GET';
    const problem = page.problem && new PageProblem(page.problem, hasAddress, pageToken);
    const context: PageContext = {
      formToken: this.tokens.issue(request, response, page.shownAgain),
      pageToken,
      user,
      environment: this.environmentOf(request, response),
      environments: this.environments.served,
      path: request.path,
      query: singleParameters(request),
      cameFrom: cameFrom(request),
      hasAddress,
      now: this.clock.now(),
      loginWithin: (path) => this.recentLogins.within(path),
      timeZone: timeZoneOf(request),
      appliedFilters: [],
      savedFilters,
      done,
      rejected: problem && { problem, form: request.body as FormFields | undefined },
    };
    const html = await this.renderings.run(
      user?.organizationId ?? rateLimitKeyOfAddress(clientAddress(request)),
      async () => {
        await nextTurn();
        const html = renderToString(<Layout page={page} context={context} />);
        return problem?.fill(html, HTML_OF_PROBLEM) ?? html;
      },
    );
    response.status(page.status ?? 200);
    return `<!doctype html>${html}`;
  }

  private rememberDone(response: Response, path: string): void {
    const done = pathAndQuery(path).query.get('done');
    if (done === null) return;
    const expires = new Date(this.clock.milliseconds() + DONE_COOKIE_LIFETIME);
    setCookie(response, DONE_COOKIE, done, expires);
  }

  private environmentOf(request: Request, response: Response): PlatformEnvironment {
    const shown = this.environments.of(request);
    if (shown === environmentOf(request.path) && shown !== cookieOf(request, ENVIRONMENT_COOKIE)) {
      const expires = new Date(this.clock.milliseconds() + ENVIRONMENT_COOKIE_LIFETIME);
      setCookie(response, ENVIRONMENT_COOKIE, shown, expires);
    }
    return shown;
  }
}

const HTML_OF_PROBLEM = {
  text: (reason: string, inTheWay: ApiErrorOptions['inTheWay']) =>
    renderToString(<Reason text={reason} inTheWay={inTheWay} />),
  notice: (reason: string, inTheWay: ApiErrorOptions['inTheWay']) =>
    renderToString(
      <Notice kind="bad">
        <Reason text={reason} inTheWay={inTheWay} />
      </Notice>,
    ),
};

/** Why a form was refused, with a link to what is in the way. */
function Reason({ text, inTheWay }: { readonly text: string } & Pick<ApiErrorOptions, 'inTheWay'>): VNode {
  if (!inTheWay) return <>{text}</>;
  return (
    <>
      {text}{' '}
      <a href={inTheWay.path}>
        <Foreign text={shortened(inTheWay.name)} />
      </a>
    </>
  );
}

/**
 * Bytes of an address in a redirect. Proxies hold the headers of a response in a buffer that has 4 KiB by default
 * (nginx, `proxy_buffer_size`), and respond with 502 if it is too small.
 */
export const MAX_LOCATION_LENGTH = 2_600;

/** Returns the address, without its query if that is too long: the user gets the page without the filters. */
function fitting(address: string): string {
  const isOwn = address.startsWith('/');
  return isOwn && encodeURI(address).length > MAX_LOCATION_LENGTH
    ? (address.split('?')[0] ?? address)
    : address;
}

/** Returns what a form has done, if this is the page that it led to. Each form is mentioned once. */
function consumeDone(request: Request, response: Response): string | undefined {
  const done = cookieOf(request, DONE_COOKIE);
  if (done === undefined || request.query['done'] !== done) return undefined;
  clearCookie(response, DONE_COOKIE);
  return done;
}

function policyOf(page: PageResponse, hasScripts: boolean): string {
  const policy = hasScripts ? POLICY_WITH_SCRIPTS : POLICY;
  return 'content' in page && page.formsLeaveSite ? policy.replace(" form-action 'self';", '') : policy;
}

/** Returns the address of the page of this service that led here, as far as the browser says so. */
export function cameFrom({ headers: { referer = '', host } }: Request): string | undefined {
  const page = parsedUrl(referer);
  if (!page || page.host !== host) return undefined;
  page.searchParams.delete('done');
  return page.pathname + page.search;
}

function singleParameters({ query }: Request): Record<string, string> {
  const single = Object.entries(query).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(single);
}
