import { Module, type MiddlewareConsumer, type NestModule } from '@nestjs/common';
import { withErrorBody } from '../../infrastructure/http/index.js';
import { ApiClientsModule } from '../api-clients/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { McpTokensModule } from '../mcp-tokens/index.js';
import { oauthBodyOf, TokenEndpoint } from '../oauth/index.js';
import { OrganizationsModule } from '../organizations/index.js';
import { WebhooksModule } from '../webhooks/index.js';
import { AgentAddresses } from './agent-addresses.js';
import { AgentsService } from './agents/agents.service.js';
import { ClientDocuments } from './agents/client-documents.js';
import { AgentAuthorizationsRepository } from './authorizations/agent-authorizations.repository.js';
import { AgentAuthorizationsService } from './authorizations/agent-authorizations.service.js';
import { IdentificationsService } from './authorizations/identifications.service.js';
import { AgentUsersController } from './authorizations/agent-users.controller.js';
import { AuthorizationPage } from './authorizations/authorization-steps.pages.js';
import { AgentConnectionEndsJob } from './connections/agent-connection-ends.job.js';
import { AgentConnectionEndsService } from './connections/agent-connection-ends.service.js';
import { AgentConnectionsController } from './connections/agent-connections.controller.js';
import { AgentConnectionsRepository } from './connections/agent-connections.repository.js';
import { AgentConnectionsService } from './connections/agent-connections.service.js';
import { AgentOAuthController } from './connections/agent-oauth.controller.js';
import { AgentOAuthService } from './connections/agent-oauth.service.js';
import { AGENT_GRANTS } from './connections/agent-grants.js';
import { AgentRemovalsJob } from './connections/agent-removals.job.js';
import { AgentTokensBatch } from './connections/agent-tokens.batch.js';
import { AgentTokensService } from './connections/agent-tokens.service.js';
import { AGENT_PAGES } from './pages/agents.pages.js';
import { AgentMetadataController } from './metadata/agent-metadata.controller.js';
import { RegisteredAgentsService } from './connections/registered-agents.service.js';
import { AgentSettingsService } from './settings/agent-settings.service.js';
import './agent-authorization.capability.js';

/**
 * Agents that log in: their OAuth endpoints, the pages on which users connect them, and the connections.
 */
@Module({
  imports: [ApiClientsModule, AuditLogsModule, McpTokensModule, OrganizationsModule, WebhooksModule],
  controllers: [
    AgentMetadataController,
    AgentOAuthController,
    AuthorizationPage,
    AgentUsersController,
    AgentConnectionsController,
    ...AGENT_PAGES,
  ],
  providers: [
    AgentAddresses,
    AgentSettingsService,
    AgentsService,
    ClientDocuments,
    AgentAuthorizationsService,
    AgentAuthorizationsRepository,
    IdentificationsService,
    AgentOAuthService,
    TokenEndpoint,
    ...AGENT_GRANTS,
    AgentTokensService,
    AgentTokensBatch,
    AgentConnectionsService,
    AgentConnectionsRepository,
    AgentConnectionEndsService,
    AgentConnectionEndsJob,
    AgentRemovalsJob,
    RegisteredAgentsService,
  ],
  exports: [
    AgentConnectionsRepository,
    AgentConnectionsService,
    AgentSettingsService,
    IdentificationsService,
  ],
})
export class AgentAuthorizationModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer
      .apply(withErrorBody(oauthBodyOf))
      .forRoutes(
        'connections/:client_id/token',
        'connections/:client_id/revoke',
        'connections/:client_id/register',
      );
  }
}
