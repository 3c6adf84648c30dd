import { Module } from '@nestjs/common';
import { ApiClientsModule } from '../api-clients/index.js';
import { MerchantsModule } from '../merchants/index.js';
import { SessionsModule } from '../sessions/index.js';
import { WebhooksModule } from '../webhooks/index.js';
import { EventsController } from './events.controller.js';
import { EventsService } from './events.service.js';

/** Publishing of events by the platform's own services, one by one or in batches. */
@Module({
  imports: [ApiClientsModule, MerchantsModule, SessionsModule, WebhooksModule],
  controllers: [EventsController],
  providers: [EventsService],
})
export class EventsModule {}
