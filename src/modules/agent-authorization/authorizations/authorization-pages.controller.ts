import { Controller, Get, Param, Post, type StreamableFile } from '@nestjs/common';
import { parsedUrl } from '../../../infrastructure/config/index.js';
import { pathAndQuery, requestOrigin, type RequestOrigin } from '../../../infrastructure/http/index.js';
import {
  browserOf,
  FormTokens,
  PageRoute,
  Visit,
  type PageResponse,
  type PageVisit,
} from '../../../infrastructure/pages/index.js';
import { perMinute } from '../../../infrastructure/rate-limiting/index.js';
import { MAX_EXTERNAL_USER_ID_LENGTH, validateText } from '../../../infrastructure/validation/index.js';
import { isBlankUserCode, parametersIn } from '../../oauth/index.js';
import { OrganizationsService } from '../../organizations/index.js';
import { AgentAddresses, pagePathOf } from '../agent-addresses.js';
import { AgentAuthorizationConfiguration } from '../agent-authorization.configuration.js';
import { hasRedirectUri, type Agent } from '../agents/agent.js';
import { AGENTS_NOT_ALLOWED } from '../agents/agents.dto.js';
import { AgentsService } from '../agents/agents.service.js';
import { AgentSettingsService, type AgentIssuer } from '../settings/agent-settings.service.js';
import type { AgentAuthorization } from './agent-authorization.entity.js';
import { AgentAuthorizationsService } from './agent-authorizations.service.js';
import { readRequest, single, type QueryParameters } from './authorization-request.js';
import {
  consentPage,
  loginPage,
  authorizationNotice,
  refusedPage,
  type AuthorizationNotice,
  type AuthorizationPageData,
} from './authorization.pages.js';

const PAGE = {
  surface: 'connector',
  login: false,
  limit: perMinute(
    'agent-authorizations',
    'address',
    AgentAuthorizationConfiguration,
    'authorizationsPerMinute',
  ),
} as const;

/** Agents in a browser open the pages in a window of their own, and have to find it again. */
const HEADERS = { 'Cross-Origin-Opener-Policy': 'unsafe-none' };

const NOTICES: Readonly<Partial<Record<AgentAuthorization['status'], AuthorizationNotice>>> = {
  approved: 'done',
  redeemed: 'connected',
  declined: 'declined',
  ended: 'otherBrowser',
};

/** An authorization that exists, with the issuer at which the agent began it. */
interface OpenedAuthorization {
  readonly issuer: AgentIssuer;
  readonly authorization: AgentAuthorization;
}

/** The authorization endpoint (RFC 6749, section 3.1), and the pages on which the user logs in and decides. */
@Controller('connections/:client_id')
export class AuthorizationPagesController {
  constructor(
    private readonly settings: AgentSettingsService,
    private readonly agents: AgentsService,
    private readonly authorizations: AgentAuthorizationsService,
    private readonly organizations: OrganizationsService,
    private readonly addresses: AgentAddresses,
    private readonly browsers: FormTokens,
  ) {}

  /** Redirects errors to the agent only after the agent and its redirect address have been verified (RFC 6749, section 4.1.2.1). */
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
    if (!this.agents.isAllowed(issuer, agent, redirectUri))
      return refusedPage('This organization does not allow this agent.', 403);
    const state = single(query, 'state');
    const { clientId: id } = issuer;
    const target = { clientId: id, redirectUri, state: state ?? null };
    const longest = this.authorizations.redirectTo(target, { code: EXAMPLE_CODE });
    const read = readRequest(query, (text) => this.addresses.isResourceOf(id, text), longest);
    if ('error' in read) return this.redirect(this.authorizations.refuse(target, read));
    const browser = this.browsers.identify(request, response);
    return this.redirect(
      await this.authorizations.begin(issuer, { ...read, agent, redirectUri, state }, browser),
    );
  }

  /** A ticket comes from the partner, when the user has logged in. */
  @Get('authorizations/:id')
  @PageRoute(PAGE)
  async show(@Visit() { params, query, request }: PageVisit<'client_id' | 'id'>): Promise<PageResponse> {
    const opened = await this.open(params);
    if (!opened) return authorizationNotice('expired');
    const { issuer, authorization } = opened;
    const browser = browserOf(request);
    const { ticket } = query;
    if (typeof ticket === 'string') {
      const from = { browser, origin: requestOrigin(request) };
      if (await this.authorizations.confirm(issuer, authorization, ticket, from))
        return this.redirect(pagePathOf(authorization.clientId, authorization.id));
    }
    if (!this.authorizations.isBegunBy(authorization, browser)) return authorizationNotice('otherBrowser');
    return this.pageOf(opened);
  }

  @Post('authorizations/:id')
  @PageRoute({ ...PAGE, form: true })
  async submit(@Visit() { params, form, request }: PageVisit<'client_id' | 'id'>): Promise<PageResponse> {
    const opened = await this.open(params);
    if (!opened) return authorizationNotice('expired');
    const origin = requestOrigin(request);
    const { authorization, issuer } = opened;
    if (!this.authorizations.isBegunBy(authorization, browserOf(request)))
      return authorizationNotice('otherBrowser');
    const path = this.redirect(pagePathOf(authorization.clientId, authorization.id));
    switch (form.get('action')) {
      case 'log_in':
        return (await this.logIn(opened, form.get('external_user_id') ?? '')) ?? path;
      case 'enter_code':
        return (await this.enterCode(opened, form.get('code') ?? '', origin)) ?? path;
      case 'approve': {
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
    return this.organizations.logo(await this.settings.requireIssuer(clientId));
  }

  private async open({
    client_id: clientId,
    id,
  }: PageVisit<'client_id' | 'id'>['params']): Promise<OpenedAuthorization | undefined> {
    const issuer = await this.settings.findIssuer(clientId);
    const authorization = issuer && (await this.authorizations.find(issuer, id));
    return authorization && { issuer, authorization };
  }

  /** @param target undefined if this request did not decide, for example because the form was sent twice */
  private async afterDecision(
    { issuer, authorization: { clientId, id } }: OpenedAuthorization,
    decision: 'approved' | 'declined',
    target: string | undefined,
  ): Promise<PageResponse> {
    if (target !== undefined) return this.redirect(target);
    const decided = await this.authorizations.find(issuer, id);
    if (decided?.status === 'approved' && decision === 'declined') return authorizationNotice('done');
    const isSame = decided?.status === decision;
    const repeated = isSame ? await this.authorizations.repeatDecision(decided) : undefined;
    return this.redirect(repeated ?? pagePathOf(clientId, id));
  }

  private async pageOf({ issuer, authorization }: OpenedAuthorization): Promise<PageResponse> {
    const target = await this.authorizations.repeatDecision(authorization);
    if (target !== undefined && authorization.status === 'approved') return this.redirect(target);
    const notice = NOTICES[authorization.status];
    if (notice) return authorizationNotice(notice, target);
    if (this.authorizations.hasExpired(authorization)) return authorizationNotice('expired');
    if (authorization.status === 'confirmed')
      return { ...consentPage(await this.dataOf(issuer, authorization)), headers: HEADERS };
    // The partner logs the user in, or has done so, and redirects the user here.
    if (authorization.status === 'completed' || issuer.settings.loginUrl !== null)
      return authorizationNotice('waiting');
    return { ...loginPage(await this.dataOf(issuer, authorization)), headers: HEADERS };
  }

  private async logIn(
    opened: OpenedAuthorization,
    externalUserId: string,
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
    await this.authorizations.identify(authorization.id, { externalUserId, phoneNumberSealed: null });
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
    return { authorization, organization, logo, environment, sandbox };
  }

  private redirect(redirectTo: string): PageResponse {
    return { redirectTo, headers: HEADERS };
  }
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
