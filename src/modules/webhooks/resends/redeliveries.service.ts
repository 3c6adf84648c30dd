import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import { Transactional } from '../../../infrastructure/database/index.js';
import { fieldError } from '../../../infrastructure/validation/index.js';
import { changesBetween } from '../../audit-logs/index.js';
import { WEBHOOK_ENDPOINT_NOT_FOUND, WebhookEndpointsService } from '../../webhook-endpoints/index.js';
import { notSubscribed, UNKNOWN_EVENT, type QueuedDeliveriesResponse } from '../deliveries.dto.js';
import { WebhookEventsRepository } from '../events/webhook-events.repository.js';
import { DeliveryQueueRepository } from '../queue/delivery-queue.repository.js';

/** Sends single events again. */
@Injectable()
export class RedeliveriesService {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly events: WebhookEventsRepository,
    private readonly queue: DeliveryQueueRepository,
  ) {}

  /** Sends one event to an endpoint now, whether or not it was received. */
  @Transactional()
  async redeliver(actor: DashboardActor, id: string, eventId: string): Promise<QueuedDeliveriesResponse> {
    const endpoint = await this.endpoints.lockActive(actor, id);
    const event = isUUID(eventId) ? await this.events.find(endpoint.client.clientId, eventId) : undefined;
    if (!event) throw fieldError(UNKNOWN_EVENT);
    const isSubscribed = event.isTest || !endpoint.events || endpoint.events.includes(event.name);
    if (!isSubscribed) throw fieldError(notSubscribed(event.name));
    // The endpoint may have been deleted since it was read.
    if (!(await this.queue.lockLane(id))) throw WEBHOOK_ENDPOINT_NOT_FOUND.error();
    const { queued } = await this.queue.sendAgain(id, [eventId], { includeTests: true });
    if (queued > 0) {
      const changes = changesBetween({}, { deliveries: queued, event_id: eventId });
      await this.endpoints.record('webhook.resend', actor, endpoint, changes);
    }
    return { queued };
  }
}
