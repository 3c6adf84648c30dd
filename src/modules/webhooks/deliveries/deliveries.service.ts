import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import { Transactional } from '../../../infrastructure/database/index.js';
import { INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import type { EventName } from '../../../infrastructure/event-catalog/index.js';
import { changesBetween } from '../../audit-logs/index.js';
import { WEBHOOK_ENDPOINT_NOT_FOUND, WebhookEndpointsService } from '../../webhook-endpoints/index.js';
import { WebhookEventsRepository } from '../events/webhook-events.repository.js';
import type { Outcome } from '../queue/delivery.js';
import { DeliveryQueueRepository } from '../queue/delivery-queue.repository.js';
import { DeliveryQueueService } from '../queue/delivery-queue.service.js';
import { DeliverySender } from '../sender/delivery-sender.js';
import { WebhookDeliveriesConfiguration } from '../webhook-deliveries.configuration.js';
import { WebhookPublisher } from '../webhook-publisher.js';
import type { QueuedDeliveriesResponse, TestedWebhookEndpointResponse } from './deliveries.dto.js';

export const UNKNOWN_EVENT = 'The selected event id is invalid.';
/** Returns the message about an event that the endpoint does not get. */
export function notSubscribed(name: string): string {
  return `The selected event id is invalid: the endpoint is not subscribed to ${name}.`;
}

/** Tests endpoints and repeats deliveries on request. */
@Injectable()
export class DeliveriesService {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly publisher: WebhookPublisher,
    private readonly events: WebhookEventsRepository,
    private readonly queue: DeliveryQueueService,
    private readonly queued: DeliveryQueueRepository,
    private readonly sender: DeliverySender,
    private readonly configuration: WebhookDeliveriesConfiguration,
  ) {}

  /** Makes a single attempt during the request, in the same way as the worker. */
  async test(actor: DashboardActor, id: string, event: EventName): Promise<TestedWebhookEndpointResponse> {
    const endpoint = await this.endpoints.require(actor, id);
    const delivery = await this.publisher.publishTest(endpoint, event);
    const outcome = await this.sender.send(delivery);
    await this.queue.settle({ delivery, outcome });
    return {
      event_id: delivery.event.id,
      received: outcome.reason === null,
      status_code: outcome.statusCode,
      reason: outcome.reason,
      message: this.messageOf(outcome),
      latency_ms: outcome.phases.total,
    };
  }

  @Transactional()
  async redeliver(actor: DashboardActor, id: string, eventId: string): Promise<QueuedDeliveriesResponse> {
    const endpoint = await this.endpoints.requireActive(actor, id);
    const event = isUUID(eventId) ? await this.events.one(endpoint.client.clientId, eventId) : undefined;
    if (!event) throw INVALID_FIELD.error(UNKNOWN_EVENT);
    const isSubscribed = event.isTest || !endpoint.events || endpoint.events.includes(event.name);
    if (!isSubscribed) throw INVALID_FIELD.error(notSubscribed(event.name));
    // The endpoint may have been deleted since it was read.
    if (!(await this.queued.lockLane(endpoint.id))) throw WEBHOOK_ENDPOINT_NOT_FOUND.error();
    const added = await this.queued.addMissing(endpoint.id, [eventId], { includeTests: true });
    const queued = added || (await this.queued.makeDue(endpoint.id, [eventId]));
    if (queued > 0) {
      const changes = changesBetween({}, { deliveries: queued, event_id: eventId });
      await this.endpoints.record('webhook.resend', actor, endpoint, changes);
    }
    return { queued };
  }

  private messageOf({ statusCode, reason, explanation }: Outcome): string {
    if (reason === null) return 'The endpoint received the event.';
    if (reason !== 'NON_200') return explanation ?? 'The endpoint did not respond.';
    const retries = this.configuration.attemptsAllowed - 1;
    const times = retries === 2 ? 'twice more' : `${retries} times more`;
    return `The endpoint responded with ${statusCode}. Only 200 counts: a real event would be sent ${times}.`;
  }
}
