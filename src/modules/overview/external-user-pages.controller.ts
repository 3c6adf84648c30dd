import { Controller, Get, Post } from '@nestjs/common';
import { AccessibleClients } from '../../infrastructure/auth/index.js';
import {
  DashboardAction,
  DashboardPage,
  inEachEnvironment,
  pathOfUser,
  queryFrom,
  requestFrom,
  Visit,
  type PageResponse,
  type PageVisit,
} from '../../infrastructure/pages/index.js';
import { ExternalUserIdField } from '../../infrastructure/validation/index.js';
import { UserErasuresService } from '../external-users/index.js';
import { McpTokensRepository } from '../mcp-tokens/index.js';
import { SessionsRepository } from '../sessions/index.js';
import { erasurePage, externalUserPage } from './external-user.pages.js';

const SHOWN = 10;

class ExternalUserQuery {
  @ExternalUserIdField({ in: 'query' })
  external_user_id!: string;
}

@Controller(inEachEnvironment('external-users'))
export class ExternalUserPagesController {
  constructor(
    private readonly clients: AccessibleClients,
    private readonly sessions: SessionsRepository,
    private readonly mcpTokens: McpTokensRepository,
    private readonly erasures: UserErasuresService,
  ) {}

  /** Shows what is known about one user of the organization. An unknown user has nothing. */
  @Get()
  @DashboardPage('listRequestLogs')
  async show(@Visit() { actor, environment, query }: PageVisit): Promise<PageResponse> {
    const { external_user_id: user } = queryFrom(ExternalUserQuery, query);
    const { clientId } = await this.clients.forEnvironment(actor, environment);
    const [sessions, mcpTokens] = await Promise.all([
      this.sessions.newestOfUser(clientId, user, SHOWN),
      this.mcpTokens.newestOfUser(clientId, user, SHOWN),
    ]);
    return externalUserPage({ user, sessions, mcpTokens });
  }

  @Get('erase')
  @DashboardPage('eraseExternalUser')
  confirm(@Visit() { environment, query }: PageVisit): PageResponse {
    return erasurePage(environment, queryFrom(ExternalUserQuery, query).external_user_id);
  }

  @Post('erase')
  @DashboardAction('eraseExternalUser')
  async erase(@Visit() { actor, environment, form }: PageVisit): Promise<PageResponse> {
    const { external_user_id: user } = requestFrom(ExternalUserQuery, form);
    const { clientId } = await this.clients.forEnvironment(actor, environment);
    const { organizationId } = actor;
    await this.erasures.request({ clientId, environment, organizationId }, user, actor);
    return { redirectTo: `${pathOfUser(environment, user)}&done=erased` };
  }
}
