import { Module } from '@nestjs/common';
import { RequestLogsModule } from '../request-logs/index.js';
import { WebhooksModule } from '../webhooks/index.js';
import { OverviewPagesController } from './overview-pages.controller.js';

@Module({
  imports: [RequestLogsModule, WebhooksModule],
  controllers: [OverviewPagesController],
})
export class OverviewModule {}
