import { Module } from '@nestjs/common';
import { DashboardUsersModule } from '../dashboard-users/index.js';
import { RequestLogsModule } from '../request-logs/index.js';
import { WebhooksModule } from '../webhooks/index.js';
import { OverviewPagesController } from './overview-pages.controller.js';
import { SearchPagesController } from './search-pages.controller.js';
import { SearchService } from './search.service.js';

@Module({
  imports: [DashboardUsersModule, RequestLogsModule, WebhooksModule],
  controllers: [OverviewPagesController, SearchPagesController],
  providers: [SearchService],
})
export class OverviewModule {}
