import { Global, Module } from '@nestjs/common';
import {
  AccessibleClients,
  AccessTokenVerifier,
  BasicStrategy,
  BearerStrategy,
  CredentialVerifier,
  DashboardSessionVerifier,
  DenialRecorder,
  ExportRecorder,
  McpTokenStrategy,
  McpTokenVerifier,
  ServiceTokenStrategy,
  ServiceTokenVerifier,
} from './infrastructure/auth/index.js';
import { RequestRecorder } from './infrastructure/http/index.js';
import {
  ApiClientCredentialVerifier,
  ApiClientsModule,
  OrganizationAccessibleClients,
} from './modules/api-clients/index.js';
import { AuditLog, AuditLogsModule } from './modules/audit-logs/index.js';
import {
  DashboardLoginModule,
  DashboardSessionsService,
  UserLoginsService,
} from './modules/dashboard-login/index.js';
import { UserLogins } from './modules/dashboard-users/index.js';
import { McpTokensModule, RevokedTokens, StoredMcpTokenVerifier } from './modules/mcp-tokens/index.js';
import { ActiveAccessTokenVerifier, OAuthModule } from './modules/oauth/index.js';
import { EventBodies, RequestLogsModule, RequestLogWriter } from './modules/request-logs/index.js';
import { ServiceTokensModule, StoredServiceTokenVerifier } from './modules/service-tokens/index.js';
import { LinksOfRevokedTokens, SignInLinksModule } from './modules/sign-in-links/index.js';
import { EventNames } from './modules/webhook-endpoints/index.js';
import { EVENT_NAMES, WebhookEventsRepository, WebhooksModule } from './modules/webhooks/index.js';

const PORTS = [
  { provide: AccessibleClients, useExisting: OrganizationAccessibleClients },
  { provide: AccessTokenVerifier, useExisting: ActiveAccessTokenVerifier },
  { provide: CredentialVerifier, useExisting: ApiClientCredentialVerifier },
  { provide: DashboardSessionVerifier, useExisting: DashboardSessionsService },
  { provide: DenialRecorder, useExisting: AuditLog },
  { provide: ExportRecorder, useExisting: AuditLog },
  { provide: EventBodies, useExisting: WebhookEventsRepository },
  { provide: McpTokenVerifier, useExisting: StoredMcpTokenVerifier },
  { provide: RequestRecorder, useExisting: RequestLogWriter },
  { provide: RevokedTokens, useExisting: LinksOfRevokedTokens },
  { provide: ServiceTokenVerifier, useExisting: StoredServiceTokenVerifier },
  { provide: UserLogins, useExisting: UserLoginsService },
  { provide: EventNames, useValue: { all: EVENT_NAMES } },
];

/**
 * Connects ports to the modules that implement them. Global, because every module's routes use guards, which depend
 * on these ports.
 */
@Global()
@Module({
  imports: [
    ApiClientsModule,
    AuditLogsModule,
    DashboardLoginModule,
    McpTokensModule,
    OAuthModule,
    RequestLogsModule,
    ServiceTokensModule,
    SignInLinksModule,
    WebhooksModule,
  ],
  providers: [...PORTS, BasicStrategy, BearerStrategy, McpTokenStrategy, ServiceTokenStrategy],
  exports: PORTS,
})
export class PortsModule {}
