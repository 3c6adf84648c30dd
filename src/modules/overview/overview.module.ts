import { Module } from '@nestjs/common';
import { DashboardUsersModule } from '../dashboard-users/index.js';
import { ExternalUsersModule } from '../external-users/index.js';
import { McpTokensModule } from '../mcp-tokens/index.js';
import { MerchantsModule } from '../merchants/index.js';
import { RequestLogsModule } from '../request-logs/index.js';
import { SessionsModule } from '../sessions/index.js';
import { WebhookEndpointsModule } from '../webhook-endpoints/index.js';
import { WebhooksModule } from '../webhooks/index.js';
import { ExternalUserPagesController } from './external-user-pages.controller.js';
import { OverviewPagesController } from './overview-pages.controller.js';
import { SearchPagesController } from './search-pages.controller.js';
import { SearchService } from './search.service.js';

@Module({
  imports: [
    DashboardUsersModule,
    ExternalUsersModule,
    McpTokensModule,
    MerchantsModule,
    RequestLogsModule,
    SessionsModule,
    WebhookEndpointsModule,
    WebhooksModule,
  ],
  controllers: [ExternalUserPagesController, OverviewPagesController, SearchPagesController],
  providers: [SearchService],
})
export class OverviewModule {}
