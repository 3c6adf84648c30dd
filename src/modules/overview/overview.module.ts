import { Module } from '@nestjs/common';
import { RequestLogsModule } from '../request-logs/index.js';
import { WebhooksModule } from '../webhooks/index.js';
import { OverviewPagesController } from './overview-pages.controller.js';
import { OverviewPagesService } from './overview-pages.service.js';

@Module({
  imports: [RequestLogsModule, WebhooksModule],
  controllers: [OverviewPagesController],
  providers: [OverviewPagesService],
})
export class OverviewModule {}
