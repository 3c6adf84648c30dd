import { Controller, Get, Param, Post, StreamableFile } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import {
  sessionTokenOf,
  setSessionCookie,
  type DashboardIdentity,
} from '../../../infrastructure/auth/index.js';
import { NOT_FOUND } from '../../../infrastructure/errors/index.js';
import { clearCookie, cookieOf, OnSurface, setCookie } from '../../../infrastructure/http/index.js';
import {
  FormTokens,
  PageRoute,
  Visit,
  type PageResponse,
  type PageVisit,
} from '../../../infrastructure/pages/index.js';
import { Clock, MINUTE } from '../../../infrastructure/time/index.js';
import { continuePage, loginBrowserOf, withNext, type BegunLogin } from '../../dashboard-login/index.js';
import { configurationPath } from '../configuration-path.js';
import { failedLoginPage, suggestedLoginPage, testedPage } from './sso-logins.pages.js';
import { SsoLoginsService } from './sso-logins.service.js';
import { SsoResponsesService } from './sso-responses.service.js';

/** Bytes of a form whose response has 256 KiB, in base64 and with escaped characters. */
const RESPONSE_FORM_LIMIT = 393_216;

/** Carries the response to a test login from the address that it arrived at to the page that shows it. */
const TEST_COOKIE = 'sso_test';
/** Bytes of its value as it is sent. Browsers ignore a cookie of more than 4,096, with its name. */
const MAX_TEST_COOKIE = 3_800;

/** Where identity providers send browsers after a login. */
@ApiExcludeController()
@Controller('sso')
export class SsoLoginsPage {
  constructor(
    private readonly logins: SsoLoginsService,
    private readonly responses: SsoResponsesService,
    private readonly tokens: FormTokens,
    private readonly clock: Clock,
  ) {}

  @Get('saml/:id/metadata')
  @OnSurface('dashboard')
  async metadata(@Param('id') configurationId: string): Promise<StreamableFile> {
    return new StreamableFile(Buffer.from(await this.logins.metadata(configurationId)), {
      type: 'application/samlmetadata+xml',
      disposition: 'inline; filename="merchant-connectivity-metadata.xml"',
    });
  }

  /**
   * Receives the response of a SAML provider. The form comes from another site, so it has no token of ours, and no cookie, which would
   * say that the login is that of an agent's window: any window keeps its opener until the next response.
   */
  @Post('saml/:id')
  @PageRoute({
    opener: 'kept',
    login: false,
    form: { limit: RESPONSE_FORM_LIMIT, fromOtherSites: true },
  })
  async receive(@Visit() { params, form, request }: PageVisit<'id'>): Promise<PageResponse> {
    const { id: configurationId } = params;
    const path = `/sso/saml/${encodeURIComponent(configurationId)}`;
    const state = form.get('RelayState') ?? '';
    // A response without a request is not accepted: it starts a login of ours.
    if (!this.responses.isState(state)) return { redirectTo: `${path}/login` };
    const received = await this.responses.receive({
      configurationId,
      state,
      response: form.get('SAMLResponse') ?? '',
      origin: loginBrowserOf(request).origin,
    });
    if ('problem' in received) return failedLoginPage(received.problem);
    return { redirectTo: `${path}?state=${received.state}` };
  }

  /** Asks before a login that the provider suggested, for example with an icon on its own page: any page can lead here. */
  @Get(['saml/:id/login', 'oidc/:id/login'])
  @PageRoute({ login: false })
  async suggest(@Visit() { params, request }: PageVisit<'id'>): Promise<PageResponse> {
    const configuration = NOT_FOUND.requireFound(await this.logins.suggested(params.id));
    return suggestedLoginPage(configuration, (request.user as DashboardIdentity | undefined)?.email);
  }

  @Post(['saml/:id/login', 'oidc/:id/login'])
  @PageRoute({ login: false, form: true })
  async begin(@Visit() { params, request, response }: PageVisit<'id'>): Promise<PageResponse> {
    const { origin } = loginBrowserOf(request);
    const browser = this.tokens.identify(request, response);
    const begun = NOT_FOUND.requireFound(await this.logins.beginAt(params.id, { origin, browser }));
    return begunPage(begun);
  }

  @Get(['oidc/:id', 'saml/:id'])
  @PageRoute({ opener: 'kept for agents', login: false, isOneTime: true })
  async finish(@Visit() visit: PageVisit<'id'>): Promise<PageResponse> {
    const { request, response } = visit;
    const { pathname, search } = new URL(request.originalUrl, 'http://own.invalid');
    // Only a browser has an address bar, where the code would stay with the page that shows a test.
    const isShown = request.user && request.headers['sec-fetch-dest'] === 'document';
    const fits = encodeURIComponent(search).length <= MAX_TEST_COOKIE;
    const state = stateIn(search);
    if (isShown && fits && (await this.responses.isTest(state))) {
      setCookie(response, TEST_COOKIE, search, new Date(this.clock.milliseconds() + MINUTE));
      // The state tells the tests of a browser apart, and works once.
      return { redirectTo: `${pathname}/test?${new URLSearchParams({ state })}` };
    }
    return this.finished(visit, search);
  }

  @Get(['oidc/:id/test', 'saml/:id/test'])
  @PageRoute({ login: false, isOneTime: true })
  async finishTest(@Visit() visit: PageVisit<'id'>): Promise<PageResponse> {
    const search = cookieOf(visit.request, TEST_COOKIE);
    // The page was opened again later.
    if (search === undefined) return { redirectTo: configurationPath(visit.params.id) };
    clearCookie(visit.response, TEST_COOKIE);
    return this.finished(visit, search);
  }

  private async finished(
    { params, request, response }: PageVisit<'id'>,
    query: string,
  ): Promise<PageResponse> {
    const finished = await this.responses.finish({
      configurationId: params.id,
      state: stateIn(query),
      query,
      user: request.user as DashboardIdentity | undefined,
      replacing: sessionTokenOf(request),
      ...loginBrowserOf(request),
    });
    if ('test' in finished) return testedPage(finished.configuration, finished.test);
    if ('again' in finished) return begunPage(finished.again);
    if ('problem' in finished) return failedLoginPage(finished.problem);
    const { opened, next } = finished;
    setSessionCookie(response, opened.session.token, opened.session.expiresAt);
    return { redirectTo: opened.stage === 'complete' ? next : withNext('/login/second-factor', next) };
  }
}

function begunPage(begun: BegunLogin): PageResponse {
  return 'problem' in begun ? failedLoginPage(begun.problem) : continuePage(begun);
}

/** @returns an empty text for a query with several states, which belongs to no login */
function stateIn(query: string): string {
  const [state = '', ...others] = new URLSearchParams(query).getAll('state');
  return others.length === 0 ? state : '';
}
