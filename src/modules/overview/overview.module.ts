import { Module } from '@nestjs/common';
import { AgentAuthorizationModule } from '../agent-authorization/index.js';
import { CustomersModule } from '../customers/index.js';
import { DashboardUsersModule } from '../dashboard-users/index.js';
import { ExternalUsersModule } from '../external-users/index.js';
import { McpTokensModule } from '../mcp-tokens/index.js';
import { MerchantAccountsModule } from '../merchant-accounts/index.js';
import { MerchantsModule } from '../merchants/index.js';
import { RequestLogsModule } from '../request-logs/index.js';
import { SessionsModule } from '../sessions/index.js';
import { SignInLinksModule } from '../sign-in-links/index.js';
import { WebhookEndpointsModule } from '../webhook-endpoints/index.js';
import { WebhooksModule } from '../webhooks/index.js';
import { EraseUserPage, ExternalUserPage } from './external-user.pages.js';
import { FirstStepsService } from './first-steps.service.js';
import { OverviewPage } from './overview.pages.js';
import { SearchPage } from './search.pages.js';
import { SearchService } from './search.service.js';
import './overview.capability.js';

/**
 * The first page of the dashboard: requests, deliveries, unhealthy endpoints, first steps; the search; one
 * external user.
 */
@Module({
  imports: [
    AgentAuthorizationModule,
    CustomersModule,
    DashboardUsersModule,
    ExternalUsersModule,
    McpTokensModule,
    MerchantAccountsModule,
    MerchantsModule,
    RequestLogsModule,
    SessionsModule,
    SignInLinksModule,
    WebhookEndpointsModule,
    WebhooksModule,
  ],
  controllers: [ExternalUserPage, EraseUserPage, OverviewPage, SearchPage],
  providers: [FirstStepsService, SearchService],
})
export class OverviewModule {}
