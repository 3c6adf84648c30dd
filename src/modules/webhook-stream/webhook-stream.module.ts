import { Module } from '@nestjs/common';
import { CredentialsCheck } from '../../infrastructure/auth/index.js';
import { WebhooksModule } from '../webhooks/index.js';
import { EventHorizon } from './event-horizon.js';
import { EventStreamRepository } from './event-stream.repository.js';
import { ListenersRepository } from './listeners.repository.js';
import { WebhookStreamController } from './webhook-stream.controller.js';
import { WebhookStreamService } from './webhook-stream.service.js';

@Module({
  imports: [WebhooksModule],
  controllers: [WebhookStreamController],
  providers: [
    CredentialsCheck,
    WebhookStreamService,
    EventHorizon,
    EventStreamRepository,
    ListenersRepository,
  ],
})
export class WebhookStreamModule {}
