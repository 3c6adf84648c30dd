import { Injectable } from '@nestjs/common';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import type { EventName } from '../../../infrastructure/event-catalog/index.js';
import { WebhookEndpointsService } from '../../webhook-endpoints/index.js';
import type { Outcome } from '../delivery.js';
import { DeliveryQueueService } from '../queue/delivery-queue.service.js';
import { DeliverySender } from '../sender/delivery-sender.js';
import { WebhookDeliveriesConfiguration } from '../webhook-deliveries.configuration.js';
import { WebhookPublisher } from '../publishing/webhook-publisher.js';
import type { TestedWebhookEndpointResponse } from '../deliveries.dto.js';

@Injectable()
export class DeliveriesService {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly publisher: WebhookPublisher,
    private readonly queue: DeliveryQueueService,
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

  private messageOf({ statusCode, reason, explanation }: Outcome): string {
    if (reason === null) return 'The endpoint received the event.';
    if (reason !== 'NON_200') return explanation ?? 'The endpoint did not respond.';
    const retries = this.configuration.attemptsAllowed - 1;
    const times = ['once', 'twice'][retries - 1] ?? `${retries} times`;
    return `The endpoint responded with ${statusCode}. Only 200 counts: a real event would be sent ${times} more.`;
  }
}
