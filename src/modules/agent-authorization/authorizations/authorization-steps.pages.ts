import { Controller, Get, Param, Post, type StreamableFile } from '@nestjs/common';
import { parsedUrl } from '../../../infrastructure/config/index.js';
import {
  losesCookies,
  OVER_HTTP,
  pathAndQuery,
  requestOrigin,
  type RequestOrigin,
} from '../../../infrastructure/http/index.js';
import {
  browserOf,
  FormTokens,
  noticePage,
  PageRoute,
  requireUnchanged,
  Visit,
  type PageResponse,
  type PageVisit,
} from '../../../infrastructure/pages/index.js';
import { isNorthAmerican } from '../../../infrastructure/phone-numbers/index.js';
import { perMinute } from '../../../infrastructure/rate-limiting/index.js';
import { E164, MAX_EXTERNAL_USER_ID_LENGTH, validateText } from '../../../infrastructure/validation/index.js';
import { isBlankUserCode, parametersIn } from '../../oauth/index.js';
import { OrganizationsService } from '../../organizations/index.js';
import { AgentAddresses, pagePathOf } from '../agent-addresses.js';
import { AgentAuthorizationConfiguration } from '../agent-authorization.configuration.js';
import { hasRedirectUri, hostOrSchemeOf, type Agent } from '../agents/agent.js';
import { AGENT_NOT_ALLOWED, AGENTS_NOT_ALLOWED } from '../agents/agents.dto.js';
import { AgentsService } from '../agents/agents.service.js';
import type { AgentIssuer } from '../agent-issuer.js';
import { AgentSettingsService } from '../settings/agent-settings.service.js';
import type { AgentAuthorization } from './agent-authorization.entity.js';
import { AgentAuthorizationsService } from './agent-authorizations.service.js';
import { IdentificationsService } from './identifications.service.js';
import type { Purpose } from './identification.js';
import { readRequest, single, type QueryParameters } from './authorization-request.js';
import {
  consentPage,
  loginPage,
  authorizationNotice,
  refusedPage,
  shownUserOf,
  type AuthorizationNotice,
  type AuthorizationPageData,
} from './authorization.pages.js';

const PAGE = {
  surface: 'connector',
  login: false,
  opener: 'kept',
  limit: perMinute(
    'agent-authorizations',
    'address',
    AgentAuthorizationConfiguration,
    'authorizationsPerMinute',
  ),
} as const;

const NOTICES: Readonly<Partial<Record<AgentAuthorization['status'], AuthorizationNotice>>> = {
  approved: 'done',
  redeemed: 'connected',
  declined: 'declined',
  ended: 'ended',
};

/** An authorization that exists, with the issuer at which the agent began it. */
interface OpenedAuthorization {
  readonly issuer: AgentIssuer;
  readonly authorization: AgentAuthorization;
}

/** The authorization endpoint (RFC 6749, section 3.1), and the pages on which the user logs in and decides. */
@Controller('connections/:client_id')
export class AuthorizationPage {
  constructor(
    private readonly settings: AgentSettingsService,
    private readonly agents: AgentsService,
    private readonly authorizations: AgentAuthorizationsService,
    private readonly identifications: IdentificationsService,
    private readonly organizations: OrganizationsService,
    private readonly addresses: AgentAddresses,
    private readonly browsers: FormTokens,
  ) {}

  /**
   * Redirects errors to the agent only after the agent and its redirect address have been verified (RFC 6749, section 4.1.2.1), and
   * only to addresses that the organization knows: otherwise, the page shows the error, and where it leads (RFC 9700, section 4.11.2).
   * Apart from errors, the browser goes to the agent only after the user has decided.
   */
  @Get('authorize')
  @PageRoute(PAGE)
  async begin(@Visit() { params, request, response }: PageVisit<'client_id'>): Promise<PageResponse> {
    const issuer = await this.settings.findIssuer(params.client_id);
    if (!issuer) return refusedPage(AGENTS_NOT_ALLOWED.message, 404);
    const query = parametersIn(pathAndQuery(request.url).query);
    const agentId = single(query, 'client_id');
    if (agentId === undefined)
      return refusedPage('The request lacks the parameter client_id, or repeats it.');
    const agent = await this.agents.find(issuer, agentId);
    if ('problem' in agent) return refusedPage(agent.problem);
    const redirectUri = redirectUriOf(query, agent);
    if (redirectUri === undefined || !hasRedirectUri(agent, redirectUri))
      return refusedPage(unregisteredAddress(redirectUri));
    const host = hostOrSchemeOf(redirectUri);
    if (!this.agents.isAllowed(issuer, agent, host)) return refusedPage(AGENT_NOT_ALLOWED, 403);
    const state = single(query, 'state');
    const { clientId: id } = issuer;
    const target = { clientId: id, redirectUri, state: state ?? null };
    const longest = this.authorizations.redirectTo(target, { code: EXAMPLE_CODE });
    const read = readRequest(query, (text) => this.addresses.isResourceOf(id, text), longest);
    if ('error' in read) {
      const agentUrl = this.authorizations.refuse(target, read);
      return this.agents.isNamed(issuer, agent, host)
        ? { redirectTo: agentUrl }
        : refusedPage(read.description, 400, agentUrl);
    }
    await this.agents.keep(issuer, agent);
    const browser = this.browsers.identify(request, response);
    return {
      redirectTo: await this.authorizations.begin(issuer, { ...read, agent, redirectUri, state }, browser),
    };
  }

  /** A ticket comes from the partner, when the user has logged in. */
  @Get('authorizations/:id')
  @PageRoute(PAGE)
  async show(@Visit() { params, query, request }: PageVisit<'client_id' | 'id'>): Promise<PageResponse> {
    const opened = await this.open(params);
    if (!('issuer' in opened)) return opened;
    const { issuer, authorization } = opened;
    const browser = browserOf(request);
    const { ticket } = query;
    if (typeof ticket === 'string') {
      const from = { browser, origin: requestOrigin(request) };
      if (await this.identifications.confirm(issuer, authorization, ticket, from))
        return { redirectTo: pagePathOf(authorization.clientId, authorization.id) };
    }
    if (!this.identifications.isBegunBy(authorization, browser))
      return otherBrowserNotice(request, authorization.purpose);
    return this.pageOf(opened);
  }

  @Post('authorizations/:id')
  @PageRoute({ ...PAGE, form: true })
  async submit(@Visit() { params, form, request }: PageVisit<'client_id' | 'id'>): Promise<PageResponse> {
    const opened = await this.open(params);
    if (!('issuer' in opened)) return opened;
    const origin = requestOrigin(request);
    const { authorization, issuer } = opened;
    if (!this.identifications.isBegunBy(authorization, browserOf(request)))
      return otherBrowserNotice(request, authorization.purpose);
    const path = { redirectTo: pagePathOf(authorization.clientId, authorization.id) };
    if (this.identifications.hasExpired(authorization)) return path;
    const action = form.get('action');
    if (action === 'log_in')
      return (
        (await this.logIn(opened, form.get('external_user_id') ?? '', form.get('phone_number') ?? '')) ?? path
      );
    if (authorization.purpose !== 'agent') return path;
    switch (action) {
      case 'enter_code':
        return (await this.enterCode(opened, form.get('code') ?? '', origin)) ?? path;
      case 'log_in_again':
        return { redirectTo: await this.identifications.restart(issuer, authorization) };
      case 'approve': {
        requireUnchanged(form, shownUserOf(authorization));
        const target = await this.authorizations.approve(issuer, authorization, origin);
        return this.afterDecision(opened, 'approved', target);
      }
      case 'decline': {
        const target = await this.authorizations.decline(issuer, authorization, origin);
        return this.afterDecision(opened, 'declined', target);
      }
      default:
        return path;
    }
  }

  @Get('logo')
  @PageRoute(PAGE)
  async logo(@Param('client_id') clientId: string): Promise<StreamableFile> {
    return this.organizations.logo(AGENTS_NOT_ALLOWED.requireFound(await this.settings.findClient(clientId)));
  }

  /** Returns the authorization, or why it cannot continue. */
  private async open({
    client_id: clientId,
    id,
  }: PageVisit<'client_id' | 'id'>['params']): Promise<OpenedAuthorization | PageResponse> {
    const issuer = await this.settings.findClient(clientId);
    const authorization = issuer && (await this.identifications.find(issuer, id));
    if (!authorization) return authorizationNotice('expired');
    if (authorization.purpose !== 'agent') return { issuer, authorization };
    if (issuer.settings.agents === 'off') return authorizationNotice('expired');
    const { agentId, agentKind: kind, redirectUri } = authorization;
    const isAllowed = this.agents.isAllowed(issuer, { id: agentId, kind }, hostOrSchemeOf(redirectUri));
    return isAllowed ? { issuer, authorization } : refusedPage(AGENT_NOT_ALLOWED, 403);
  }

  /** @param target undefined if this request did not decide, for example because the form was sent twice */
  private async afterDecision(
    { issuer, authorization: { clientId, id } }: OpenedAuthorization,
    decision: 'approved' | 'declined',
    target: string | undefined,
  ): Promise<PageResponse> {
    if (target !== undefined) return { redirectTo: target };
    const decided = await this.identifications.find(issuer, id);
    if (decided?.status === 'approved' && decision === 'declined') return authorizationNotice('done');
    const isSame = decided?.status === decision;
    const repeated = isSame ? await this.authorizations.repeatDecision(decided) : undefined;
    return { redirectTo: repeated ?? pagePathOf(clientId, id) };
  }

  private async pageOf({ issuer, authorization }: OpenedAuthorization): Promise<PageResponse> {
    const { continueAt, id, purpose, status } = authorization;
    // The page that the browser goes to checks whether the login is for that page.
    if (continueAt !== null && status === 'confirmed') return { redirectTo: `${continueAt}/${id}` };
    const target = await this.authorizations.repeatDecision(authorization);
    if (target !== undefined && status === 'approved') return { redirectTo: target };
    const next = status === 'ended' ? await this.identifications.findNext(authorization) : undefined;
    if (next) return { redirectTo: pagePathOf(next.clientId, next.id) };
    const notice = NOTICES[status];
    if (notice) return authorizationNotice(notice, target, purpose);
    if (this.identifications.hasExpired(authorization))
      return authorizationNotice('expired', undefined, purpose);
    if (status === 'confirmed') return consentPage(await this.dataOf(issuer, authorization));
    // The partner logs the user in, or has done so, and redirects the user here.
    if (status === 'completed' || issuer.settings.loginUrl !== null)
      return authorizationNotice('waiting', undefined, purpose);
    const data = await this.dataOf(issuer, authorization);
    // The partner has removed its login page meanwhile.
    const canLogIn = purpose === 'agent' || data.sandbox !== null;
    return canLogIn ? loginPage(data) : authorizationNotice('expired', undefined, purpose);
  }

  private async logIn(
    opened: OpenedAuthorization,
    externalUserId: string,
    typedNumber: string,
  ): Promise<PageResponse | undefined> {
    const { issuer, authorization } = opened;
    // Only the sandbox has no login: users of production enter a code.
    if (this.sandboxOf(issuer, authorization) !== 'open') return undefined;
    const problem = validateText('user ID', externalUserId, MAX_EXTERNAL_USER_ID_LENGTH);
    if (externalUserId.trim() === '' || problem !== undefined)
      return loginPage(await this.dataOf(issuer, authorization), {
        field: 'external_user_id',
        message: problem ?? 'Enter the ID of a user.',
      });
    const phoneNumber = typedNumber.replaceAll(/[\s().-]/g, '');
    if (phoneNumber !== '' && !(E164.test(phoneNumber) && isNorthAmerican(phoneNumber)))
      return loginPage(await this.dataOf(issuer, authorization), {
        field: 'phone_number',
        message: 'Enter a number of the US or Canada, such as +12125550123, or none.',
      });
    const user = { external_user_id: externalUserId, ...(phoneNumber && { phone_number: phoneNumber }) };
    await this.identifications.identify(authorization.id, user);
    return undefined;
  }

  private async enterCode(
    { issuer, authorization }: OpenedAuthorization,
    code: string,
    origin: RequestOrigin,
  ): Promise<PageResponse | undefined> {
    const isBlank = isBlankUserCode(code);
    if (!isBlank && (await this.authorizations.enterCode(authorization, code, origin))) return undefined;
    return loginPage(await this.dataOf(issuer, authorization), {
      field: 'code',
      message: isBlank
        ? 'Enter the code that the app shows.'
        : 'This code is not valid. It may have expired: create another one in the app.',
    });
  }

  /** Returns whether anyone can be any user, the page of the dashboard where members can, or null without a sandbox. */
  private sandboxOf(
    { environment, settings }: AgentIssuer,
    { id }: AgentAuthorization,
  ): AuthorizationPageData['sandbox'] {
    if (environment !== 'development' || settings.loginUrl !== null) return null;
    return settings.sandboxLogin === 'anyone' ? 'open' : this.addresses.sandboxLoginOf(id);
  }

  private async dataOf(
    issuer: AgentIssuer,
    authorization: AgentAuthorization,
  ): Promise<AuthorizationPageData> {
    const { organizationId, environment, clientId } = issuer;
    const [organization, hasLogo] = await Promise.all([
      this.organizations.nameOf(organizationId),
      this.organizations.hasLogo(organizationId),
    ]);
    const logo = hasLogo ? `/connections/${clientId}/logo` : undefined;
    const sandbox = this.sandboxOf(issuer, authorization);
    const hasUserPage = this.identifications.canLogIn(issuer);
    const hasLoginPage = issuer.settings.loginUrl !== null;
    return { authorization, organization, logo, environment, sandbox, hasUserPage, hasLoginPage };
  }
}

/** A browser that keeps no cookies looks like another one. */
function otherBrowserNotice(request: PageVisit['request'], purpose: Purpose): PageResponse {
  return losesCookies(request)
    ? noticePage({ title: 'You cannot continue here', status: 403, notice: OVER_HTTP })
    : authorizationNotice('otherBrowser', undefined, purpose);
}

/** As long as a code. */
const EXAMPLE_CODE = '0'.repeat(49);

/** Returns the redirect address of a request, which may lack it if the agent has only one (RFC 6749, section 3.1.2.3). */
function redirectUriOf(
  query: QueryParameters,
  { redirectUris: [first, ...others] }: Agent,
): string | undefined {
  if (query['redirect_uri'] === undefined) return others.length === 0 ? first : undefined;
  return single(query, 'redirect_uri');
}

/** Names only the host or scheme: anyone can write a text into the rest of the address. */
function unregisteredAddress(redirectUri: string | undefined): string {
  const url = parsedUrl(redirectUri ?? '');
  const host = url && /^https?:$/.test(url.protocol) ? url.host : url?.protocol;
  const place = host ? ` at ${host}` : '';
  return `The agent has not registered the address${place} that you would return to.`;
}
