import { Global, Module, type Provider } from '@nestjs/common';
import {
  AccessibleClients,
  AccessTokenStrategy,
  AgentLogins,
  AuditRecorder,
  BasicStrategy,
  CredentialVerifier,
  DashboardSessionVerifier,
  KeyTokenVerifier,
  McpTokenStrategy,
  OAuthClientStrategy,
  ServiceTokenStrategy,
} from './infrastructure/auth/index.js';
import { ErasedUsers } from './infrastructure/erasure/index.js';
import { RequestRecorder } from './infrastructure/http/index.js';
import { SavedFilters } from './infrastructure/pages/index.js';
import { ApiClientsModule, OrganizationAccessibleClients } from './modules/api-clients/index.js';
import { ApiKeysModule, ApiKeyVerifier } from './modules/api-keys/index.js';
import {
  AgentAuthorizationModule,
  AgentConnectionsRepository,
  AgentSettingsService,
} from './modules/agent-authorization/index.js';
import { DomainLogins } from './modules/allowlisted-domains/index.js';
import {
  AuditLog,
  AuditLogsModule,
  CurrentKeys,
  CurrentLogins,
  CurrentRoles,
  CurrentTokens,
} from './modules/audit-logs/index.js';
import {
  CurrentSessions,
  DashboardLoginModule,
  DashboardSessionsService,
  IdentityProviders,
  ProviderRequirement,
  UserLoginsService,
} from './modules/dashboard-login/index.js';
import {
  DashboardUsersModule,
  DashboardUsersRepository,
  ProviderLinks,
  UserLogins,
} from './modules/dashboard-users/index.js';
import { ErasedUsersRegister, ExternalUsersModule } from './modules/external-users/index.js';
import {
  AgentConnectionStates,
  McpTokenRevocationListener,
  McpTokensModule,
  McpTokenVerifier,
} from './modules/mcp-tokens/index.js';
import { ActiveAccessTokenVerifier, CurrentAccessTokens, OAuthModule } from './modules/oauth/index.js';
import {
  EventBodies,
  RequestLogsModule,
  RequestLogWriter,
  WebhookFilterOptions,
} from './modules/request-logs/index.js';
import { SavedFiltersModule, SavedFiltersService } from './modules/saved-filters/index.js';
import { ServiceTokensModule, ServiceTokenVerifier } from './modules/service-tokens/index.js';
import { SignInLinksModule, SignInLinksService } from './modules/sign-in-links/index.js';
import {
  SingleSignOnModule,
  SsoAttemptsRepository,
  SsoDomainsService,
  SsoLoginsService,
  SsoSettingsRepository,
} from './modules/single-sign-on/index.js';
import {
  EndpointLanes,
  WebhookEndpointsModule,
  WebhookEndpointsService,
} from './modules/webhook-endpoints/index.js';
import { LanesRepository, WebhookEventsRepository, WebhooksModule } from './modules/webhooks/index.js';

const PORTS = [
  { provide: AgentLogins, useExisting: AgentSettingsService },
  { provide: AccessibleClients, useExisting: OrganizationAccessibleClients },
  { provide: CredentialVerifier, useExisting: ApiKeyVerifier },
  { provide: KeyTokenVerifier, useExisting: ActiveAccessTokenVerifier },
  { provide: DashboardSessionVerifier, useExisting: DashboardSessionsService },
  { provide: AuditRecorder, useExisting: AuditLog },
  { provide: CurrentKeys, useExisting: ApiKeyVerifier },
  { provide: CurrentLogins, useExisting: CurrentSessions },
  { provide: CurrentRoles, useExisting: DashboardUsersRepository },
  { provide: CurrentTokens, useExisting: CurrentAccessTokens },
  { provide: DomainLogins, useExisting: SsoDomainsService },
  { provide: EndpointLanes, useExisting: LanesRepository },
  { provide: ErasedUsers, useExisting: ErasedUsersRegister },
  { provide: EventBodies, useExisting: WebhookEventsRepository },
  { provide: IdentityProviders, useExisting: SsoLoginsService },
  { provide: ProviderLinks, useExisting: SsoAttemptsRepository },
  { provide: ProviderRequirement, useExisting: SsoSettingsRepository },
  { provide: RequestRecorder, useExisting: RequestLogWriter },
  { provide: SavedFilters, useExisting: SavedFiltersService },
  { provide: AgentConnectionStates, useExisting: AgentConnectionsRepository },
  { provide: McpTokenRevocationListener, useExisting: SignInLinksService },
  { provide: WebhookFilterOptions, useExisting: WebhookEndpointsService },
  { provide: UserLogins, useExisting: UserLoginsService },
];

/** The strategies that the guards of all surfaces call by their names. */
const STRATEGIES: Provider[] = [
  BasicStrategy,
  OAuthClientStrategy,
  {
    provide: AccessTokenStrategy,
    inject: [ActiveAccessTokenVerifier],
    useFactory: (verifier: ActiveAccessTokenVerifier) => new AccessTokenStrategy(verifier),
  },
  {
    provide: McpTokenStrategy,
    inject: [McpTokenVerifier],
    useFactory: (verifier: McpTokenVerifier) => new McpTokenStrategy(verifier),
  },
  {
    provide: ServiceTokenStrategy,
    inject: [ServiceTokenVerifier],
    useFactory: (verifier: ServiceTokenVerifier) => new ServiceTokenStrategy(verifier),
  },
];

/**
 * Connects ports to the modules that implement them. Global, because every module's routes use guards, which depend
 * on these ports.
 */
@Global()
@Module({
  imports: [
    AgentAuthorizationModule,
    ApiClientsModule,
    ApiKeysModule,
    AuditLogsModule,
    DashboardLoginModule,
    DashboardUsersModule,
    ExternalUsersModule,
    McpTokensModule,
    OAuthModule,
    RequestLogsModule,
    SavedFiltersModule,
    ServiceTokensModule,
    SignInLinksModule,
    SingleSignOnModule,
    WebhookEndpointsModule,
    WebhooksModule,
  ],
  providers: [...PORTS, ...STRATEGIES],
  exports: PORTS,
})
export class PortsModule {}
