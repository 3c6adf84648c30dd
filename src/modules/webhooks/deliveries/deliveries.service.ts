import { Injectable } from '@nestjs/common';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import { KeyedQueue } from '../../../infrastructure/queues/index.js';
import { RATE_LIMIT_EXCEEDED } from '../../../infrastructure/errors/index.js';
import type { EventName } from '../../../infrastructure/event-catalog/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import { WebhookEndpointsService } from '../../webhook-endpoints/index.js';
import type { Outcome } from '../delivery.js';
import { DeliveryQueueService } from '../queue/delivery-queue.service.js';
import { DeliverySender } from '../sender/delivery-sender.js';
import { WebhookDeliveriesConfiguration } from '../webhook-deliveries.configuration.js';
import { WebhookPublisher } from '../publishing/webhook-publisher.js';
import type { TestedWebhookEndpointResponse } from '../deliveries.dto.js';

/** In a process. Fewer than the attempts that a new endpoint gets at the same time. */
const CONCURRENT_TESTS = 3;
const MAX_WAITING = 20;
/** Milliseconds. As long as an attempt may take. */
const MAX_WAIT = 10 * SECOND;
const tooMany = () => RATE_LIMIT_EXCEEDED.error(undefined, { retryAfter: MAX_WAIT / SECOND });

@Injectable()
export class DeliveriesService {
  /** By organization. Each test keeps a request and a connection open for as long as the receiver does not respond. */
  private readonly tests = new KeyedQueue(CONCURRENT_TESTS, {
    maxWaiting: MAX_WAITING,
    refusal: tooMany,
    timeout: { milliseconds: MAX_WAIT, error: tooMany },
  });

  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly publisher: WebhookPublisher,
    private readonly queue: DeliveryQueueService,
    private readonly sender: DeliverySender,
    private readonly configuration: WebhookDeliveriesConfiguration,
  ) {}

  /**
   * Makes a single attempt during the request, in the same way as the worker.
   *
   * @throws ApiError RATE_LIMIT_EXCEEDED if too many tests of the organization are running
   */
  test(actor: DashboardActor, id: string, event: EventName): Promise<TestedWebhookEndpointResponse> {
    return this.tests.run(actor.organizationId, () => this.attempt(actor, id, event));
  }

  private async attempt(
    actor: DashboardActor,
    id: string,
    event: EventName,
  ): Promise<TestedWebhookEndpointResponse> {
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
