import { Controller, Get } from '@nestjs/common';
import { AccessibleClients } from '../../infrastructure/auth/index.js';
import { ApiError } from '../../infrastructure/errors/index.js';
import {
  DashboardPage,
  inEachEnvironment,
  queryFrom,
  Visit,
  type PageResponse,
  type PageVisit,
} from '../../infrastructure/pages/index.js';
import { Clock, DAY } from '../../infrastructure/time/index.js';
import { AgentConnectionsService } from '../agent-authorization/index.js';
import { McpTokensRepository } from '../mcp-tokens/index.js';
import { MerchantAccountsService } from '../merchant-accounts/index.js';
import { RequestLogsService } from '../request-logs/index.js';
import { SessionsRepository } from '../sessions/index.js';
import { SignInLinksService } from '../sign-in-links/index.js';
import { PublishedEventsService } from '../webhooks/index.js';
import { COUNTED, externalUserPage, ExternalUserQuery, findUserPage } from './external-user.pages.js';

@Controller(inEachEnvironment('external-users'))
export class ExternalUserPagesController {
  constructor(
    private readonly clients: AccessibleClients,
    private readonly logs: RequestLogsService,
    private readonly events: PublishedEventsService,
    private readonly accounts: MerchantAccountsService,
    private readonly links: SignInLinksService,
    private readonly agents: AgentConnectionsService,
    private readonly sessions: SessionsRepository,
    private readonly mcpTokens: McpTokensRepository,
    private readonly clock: Clock,
  ) {}

  /** Shows what is known about one user of the organization. An unknown user has nothing. */
  @Get()
  @DashboardPage('listRequestLogs')
  async show(@Visit() { actor, environment, query }: PageVisit): Promise<PageResponse> {
    if (!query['external_user_id']) return findUserPage(environment);
    const { external_user_id: user } = queryFrom(ExternalUserQuery, query);
    const { clientId } = await this.clients.forEnvironment(actor, environment);
    const end = this.clock.now();
    const period = { start: new Date(end.getTime() - 7 * DAY).toISOString(), end: end.toISOString() };
    const wanted = { environment, external_user_id: user, limit: COUNTED };
    const [entries, events, accounts, links, agents, sessions, mcpTokens] = await Promise.all([
      unlessBusy(this.logs.page(actor, { ...wanted, ...period })),
      unlessBusy(this.events.count(actor, environment, { externalUserId: user, limit: COUNTED })),
      this.accounts.list(actor, wanted),
      this.links.list(actor, wanted),
      this.agents.list(actor, wanted),
      this.sessions.newestOfUser(clientId, user, COUNTED),
      this.mcpTokens.newestOfUser(clientId, user, COUNTED),
    ]);
    return externalUserPage(environment, {
      user,
      entries: entries?.data,
      events,
      accounts: accounts.data,
      links: links.data,
      agents: agents.data,
      sessions,
      mcpTokens,
    });
  }
}

/** Returns undefined if the request log is too busy: the rest of the page must still be shown. */
async function unlessBusy<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
