import { Module, type MiddlewareConsumer, type NestModule } from '@nestjs/common';
import { withErrorBody } from '../../infrastructure/http/index.js';
import { ApiClientsModule } from '../api-clients/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { McpTokensModule } from '../mcp-tokens/index.js';
import { oauthBodyOf } from '../oauth/index.js';
import { OrganizationsModule } from '../organizations/index.js';
import { WebhooksModule } from '../webhooks/index.js';
import { AgentAddresses } from './agent-addresses.js';
import { AgentsService } from './agents/agents.service.js';
import { ClientDocuments } from './agents/client-documents.js';
import { AgentAuthorizationsRepository } from './authorizations/agent-authorizations.repository.js';
import { AgentAuthorizationsService } from './authorizations/agent-authorizations.service.js';
import { AgentUsersController } from './authorizations/agent-users.controller.js';
import { AuthorizationPagesController } from './authorizations/authorization-pages.controller.js';
import { AgentConnectionsController } from './connections/agent-connections.controller.js';
import { AgentConnectionsRepository } from './connections/agent-connections.repository.js';
import { AgentConnectionsService } from './connections/agent-connections.service.js';
import { AgentOAuthController } from './connections/agent-oauth.controller.js';
import { AgentOAuthService } from './connections/agent-oauth.service.js';
import { AgentGrants } from './connections/agent-grants.js';
import { AgentTokensBatch } from './connections/agent-tokens.batch.js';
import { AgentTokensService } from './connections/agent-tokens.service.js';
import { AGENT_PAGES } from './pages/agents.pages.js';
import { AgentMetadataController } from './metadata/agent-metadata.controller.js';
import { AgentSettingsService } from './settings/agent-settings.service.js';

@Module({
  imports: [ApiClientsModule, AuditLogsModule, McpTokensModule, OrganizationsModule, WebhooksModule],
  controllers: [
    AgentMetadataController,
    AgentOAuthController,
    AuthorizationPagesController,
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
    AgentOAuthService,
    AgentGrants,
    AgentTokensService,
    AgentTokensBatch,
    AgentConnectionsService,
    AgentConnectionsRepository,
  ],
  exports: [AgentConnectionsRepository, AgentConnectionsService, AgentSettingsService],
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
