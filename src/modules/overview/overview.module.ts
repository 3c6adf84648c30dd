import { Module } from '@nestjs/common';
import { RequestLogsModule } from '../request-logs/index.js';
import { WebhookEndpointsModule } from '../webhook-endpoints/index.js';
import { OverviewPagesController } from './overview-pages.controller.js';

@Module({
  imports: [RequestLogsModule, WebhookEndpointsModule],
  controllers: [OverviewPagesController],
})
export class OverviewModule {}
