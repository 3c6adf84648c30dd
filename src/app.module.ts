import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ScheduleModule } from '@nestjs/schedule';
import { ConfigurationModule, type LoadedConfiguration } from './infrastructure/config/index.js';
import { CryptoModule } from './infrastructure/crypto/index.js';
import { DataDirectoryModule } from './infrastructure/data-directory/index.js';
import { DatabaseModule } from './infrastructure/database/index.js';
import { ErasureModule } from './infrastructure/erasure/index.js';
import { HttpClientModule } from './infrastructure/http-client/index.js';
import { HttpModule, HttpServicesModule } from './infrastructure/http/index.js';
import { IdempotencyModule } from './infrastructure/idempotency/index.js';
import { MessagesModule } from './infrastructure/messages/index.js';
import { MetricsModule } from './infrastructure/metrics/index.js';
import { PagesModule } from './infrastructure/pages/index.js';
import { RateLimitingModule } from './infrastructure/rate-limiting/index.js';
import { RedisModule } from './infrastructure/redis/index.js';
import { TimeModule } from './infrastructure/time/index.js';
import { TracingModule } from './infrastructure/tracing/index.js';
import { AgentAuthorizationModule } from './modules/agent-authorization/index.js';
import { AgentConnectorModule } from './modules/agent-connector/index.js';
import { AllowlistedDomainsModule } from './modules/allowlisted-domains/index.js';
import { ApiClientsModule } from './modules/api-clients/index.js';
import { ApiKeysModule } from './modules/api-keys/index.js';
import { AuditLogsModule } from './modules/audit-logs/index.js';
import { AuditStreamsModule } from './modules/audit-streams/index.js';
import { CareersModule } from './modules/careers/index.js';
import { CustomersModule } from './modules/customers/index.js';
import { DashboardLoginModule } from './modules/dashboard-login/index.js';
import { DashboardUsersModule } from './modules/dashboard-users/index.js';
import { DetectedAccountsModule } from './modules/detected-accounts/index.js';
import { DocumentationModule } from './modules/documentation/index.js';
import { EventsModule } from './modules/events/index.js';
import { ExternalUsersModule } from './modules/external-users/index.js';
import { HealthModule } from './modules/health/index.js';
import { McpTokensModule } from './modules/mcp-tokens/index.js';
import { MerchantAccountsModule } from './modules/merchant-accounts/index.js';
import { MerchantGatewayModule } from './modules/merchant-gateway/index.js';
import { MerchantStatusesModule } from './modules/merchant-statuses/index.js';
import { MerchantsModule } from './modules/merchants/index.js';
import { OAuthModule } from './modules/oauth/index.js';
import { OrganizationsModule } from './modules/organizations/index.js';
import { OverviewModule } from './modules/overview/index.js';
import { RequestLogsModule } from './modules/request-logs/index.js';
import { SandboxModule } from './modules/sandbox/index.js';
import { SavedFiltersModule } from './modules/saved-filters/index.js';
import { ServiceTokensModule } from './modules/service-tokens/index.js';
import { SessionsModule } from './modules/sessions/index.js';
import { SignInLinksModule } from './modules/sign-in-links/index.js';
import { SingleSignOnModule } from './modules/single-sign-on/index.js';
import { UserPageModule } from './modules/user-page/index.js';
import { WebhookEndpointsModule } from './modules/webhook-endpoints/index.js';
import { DeliveryWorkerModule, WebhooksModule } from './modules/webhooks/index.js';
import { PortsModule } from './ports.module.js';

const INFRASTRUCTURE = [
  TimeModule,
  MetricsModule,
  DataDirectoryModule,
  TracingModule,
  DatabaseModule,
  CryptoModule,
  ErasureModule,
  RedisModule,
  RateLimitingModule,
  IdempotencyModule,
  MessagesModule,
  HttpClientModule,
  HttpServicesModule,
  PagesModule,
  DiscoveryModule,
];

const MODULES = [
  AgentAuthorizationModule,
  AgentConnectorModule,
  AllowlistedDomainsModule,
  ApiClientsModule,
  ApiKeysModule,
  AuditLogsModule,
  AuditStreamsModule,
  CareersModule,
  CustomersModule,
  DashboardLoginModule,
  DashboardUsersModule,
  DetectedAccountsModule,
  DocumentationModule,
  EventsModule,
  ExternalUsersModule,
  HealthModule,
  McpTokensModule,
  MerchantAccountsModule,
  MerchantGatewayModule,
  MerchantStatusesModule,
  MerchantsModule,
  OAuthModule,
  OrganizationsModule,
  OverviewModule,
  RequestLogsModule,
  SandboxModule,
  SavedFiltersModule,
  ServiceTokensModule,
  SessionsModule,
  SignInLinksModule,
  SingleSignOnModule,
  UserPageModule,
  WebhookEndpointsModule,
  WebhooksModule,
];

export interface AppOptions {
  /** Whether this process runs scheduled jobs and delivers webhooks. */
  readonly backgroundWork: boolean;
  /** Further modules, which tests add. */
  readonly modules?: readonly Type[];
}

/** Every process has all modules; which routes it serves depends on `SURFACES` (`ServedRoutes`). */
@Module({})
export class AppModule {
  static register(
    configuration: LoadedConfiguration,
    { backgroundWork, modules = [] }: AppOptions,
  ): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigurationModule.register(configuration),
        ...INFRASTRUCTURE,
        PortsModule,
        ...MODULES,
        ...modules,
        ...(backgroundWork ? [ScheduleModule.forRoot(), DeliveryWorkerModule] : []),
        // Shuts down before the database, because Nest closes global modules last.
        HttpModule,
      ],
    };
  }
}
