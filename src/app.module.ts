import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import {
  ConfigurationModule,
  ServiceConfiguration,
  type LoadedConfiguration,
  type Surface,
} from './infrastructure/config/index.js';
import { CryptoModule } from './infrastructure/crypto/index.js';
import { DatabaseModule } from './infrastructure/database/index.js';
import { HttpClientModule } from './infrastructure/http-client/index.js';
import { HttpModule, HttpServicesModule } from './infrastructure/http/index.js';
import { MailModule } from './infrastructure/mail/index.js';
import { MetricsModule } from './infrastructure/metrics/index.js';
import { PagingModule } from './infrastructure/paging/index.js';
import { PagesModule } from './infrastructure/pages/index.js';
import { RateLimitingModule } from './infrastructure/rate-limiting/index.js';
import { RedisModule } from './infrastructure/redis/index.js';
import { TimeModule } from './infrastructure/time/index.js';
import { TracingModule } from './infrastructure/tracing/index.js';
import { AllowlistedDomainOperationsModule } from './modules/allowlisted-domains/index.js';
import { ApiClientOperationsModule, ApiClientsModule } from './modules/api-clients/index.js';
import { AuditLogOperationsModule, AuditLogsModule } from './modules/audit-logs/index.js';
import { CareersModule } from './modules/careers/index.js';
import { DashboardLoginModule, DashboardPagesModule } from './modules/dashboard-login/index.js';
import { DashboardUserOperationsModule, DashboardUsersModule } from './modules/dashboard-users/index.js';
import { DetectedAccountsModule } from './modules/detected-accounts/index.js';
import { HealthModule } from './modules/health/index.js';
import { McpTokenOperationsModule } from './modules/mcp-tokens/index.js';
import { MerchantOperationsModule, MerchantsModule } from './modules/merchants/index.js';
import { OAuthModule } from './modules/oauth/index.js';
import { OrganizationOperationsModule, OrganizationsModule } from './modules/organizations/index.js';
import {
  RequestLogOperationsModule,
  RequestLogRotationModule,
  RequestLogsModule,
} from './modules/request-logs/index.js';
import { SamlConfigurationsModule } from './modules/saml-configurations/index.js';
import { SandboxModule } from './modules/sandbox/index.js';
import { SessionOperationsModule } from './modules/sessions/index.js';
import {
  WebhookDeliveryOperationsModule,
  WebhookEngineModule,
  WebhooksModule,
} from './modules/webhooks/index.js';
import { WebhookEndpointOperationsModule } from './modules/webhook-endpoints/index.js';

const INFRASTRUCTURE = [
  TimeModule,
  MetricsModule,
  TracingModule,
  DatabaseModule,
  CryptoModule,
  PagingModule,
  RedisModule,
  RateLimitingModule,
  MailModule,
  HttpClientModule,
  HttpServicesModule,
];

/** Modules that every process has, whatever it serves. */
const FOUNDATION = [
  HealthModule,
  OrganizationsModule,
  ApiClientsModule,
  DashboardUsersModule,
  DashboardLoginModule,
  MerchantsModule,
  RequestLogsModule,
  AuditLogsModule,
  WebhooksModule,
];

/** Modules that bring the operations of a surface. */
const MODULES_OF_SURFACE: Readonly<Record<Surface, readonly Type[]>> = {
  platform: [
    McpTokenOperationsModule,
    DetectedAccountsModule,
    AuditLogOperationsModule,
    SessionOperationsModule,
    SandboxModule,
  ],
  dashboard: [
    PagesModule,
    DashboardPagesModule,
    OAuthModule,
    DashboardUserOperationsModule,
    AllowlistedDomainOperationsModule,
    SamlConfigurationsModule,
    MerchantOperationsModule,
    OrganizationOperationsModule,
    ApiClientOperationsModule,
    RequestLogOperationsModule,
    WebhookEndpointOperationsModule,
    WebhookDeliveryOperationsModule,
  ],
  careers: [CareersModule],
};

export interface AppOptions {
  /** Whether the scheduled work runs here too. */
  readonly backgroundWork: boolean;
  /** Whether a command of an operator runs on it, who wants to see the partitions of the request log as they are. */
  readonly forCommand?: boolean;
}

@Module({})
export class AppModule {
  static register(configuration: LoadedConfiguration, options: AppOptions): DynamicModule {
    const { surfaces } = configuration.get(ServiceConfiguration);
    return {
      module: AppModule,
      imports: [
        ConfigurationModule.register(configuration),
        ...INFRASTRUCTURE,
        ...FOUNDATION,
        ...(options.forCommand ? [] : [RequestLogRotationModule]),
        ...surfaces.flatMap((surface) => MODULES_OF_SURFACE[surface as Surface]),
        ...(options.backgroundWork ? [ScheduleModule.forRoot(), WebhookEngineModule] : []),
        // Shuts down before the database does: Nest closes global modules last.
        HttpModule,
      ],
    };
  }
}
