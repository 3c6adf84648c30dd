import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import { Transaction, Transactional } from '../../../infrastructure/database/index.js';
import { INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import { RequestLogStore } from '../../request-logs/index.js';
import {
  WEBHOOK_ENDPOINT_NOT_FOUND,
  WebhookEndpointsService,
  type OwnedWebhookEndpoint,
} from '../../webhook-endpoints/index.js';
import { Attempts } from '../engine/attempts.js';
import type { ClaimedDelivery, Outcome } from '../engine/delivery.js';
import { DeliveryQueueRepository } from '../engine/delivery-queue.repository.js';
import { LaneCalls } from '../engine/lane-calls.js';
import { WebhookDeliveriesConfiguration } from '../engine/webhook-deliveries.configuration.js';
import { WebhookPublisherService } from '../engine/webhook-publisher.service.js';
import { WebhookEventsRepository } from '../engine/webhook-events.repository.js';
import type { EventName } from '../events/event-catalogue.js';
import { exampleEvent } from '../events/event-document.js';
import type { QueuedDeliveriesResponse, TestedWebhookEndpointResponse } from './deliveries.dto.js';

export const UNKNOWN_EVENT = 'The selected event id is invalid.';
const EVENTS_PER_PAGE = 1_000;

interface RecoveredPage {
  readonly queued: number;
  /** The last event of a full page, behind which there may be more. */
  readonly last: string | undefined;
}

/** What people do about deliveries beside waiting for them. */
@Injectable()
export class DeliveriesService {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly publisher: WebhookPublisherService,
    private readonly events: WebhookEventsRepository,
    private readonly queue: DeliveryQueueRepository,
    private readonly lanes: LaneCalls,
    private readonly attempts: Attempts,
    private readonly requestLog: RequestLogStore,
    private readonly transaction: Transaction,
    private readonly configuration: WebhookDeliveriesConfiguration,
  ) {}

  /** One attempt, made here and now as the engine makes them. */
  async test(
    actor: DashboardActor,
    id: string,
    event: EventName = 'AUTHENTICATED',
  ): Promise<TestedWebhookEndpointResponse> {
    const delivery = await this.claimedTest(await this.endpoints.require(actor, id), event);
    const outcome = await this.attempts.make(delivery);
    return {
      event_id: delivery.event.id,
      received: outcome.reason === null,
      status_code: outcome.statusCode,
      reason: outcome.reason,
      message: this.messageAbout(outcome),
      latency_ms: outcome.phases.total,
    };
  }

  @Transactional()
  async redeliver(actor: DashboardActor, id: string, eventId: string): Promise<QueuedDeliveriesResponse> {
    const endpoint = await this.endpoints.require(actor, id);
    const event = isUUID(eventId) ? await this.events.one(endpoint.client.clientId, eventId) : undefined;
    if (!event) throw INVALID_FIELD.error(UNKNOWN_EVENT);
    await this.holdLane(endpoint);
    await this.queue.add(event, [endpoint], this.attemptsAllowed);
    this.transaction.afterCommit(() => this.lanes.call([endpoint.id]));
    return { queued: 1 };
  }

  /** Page by page, so that the lane does not stand still for long. */
  async recover(actor: DashboardActor, id: string, since: Date): Promise<QueuedDeliveriesResponse> {
    const endpoint = await this.endpoints.require(actor, id);
    let queued = 0;
    let page: RecoveredPage | undefined;
    do {
      page = await this.recoverPage(endpoint, since, page?.last);
      queued += page.queued;
    } while (page.last !== undefined);
    return { queued };
  }

  /**
   * While the lane is locked no attempt is settled: an event that the log says has failed, and that is not in the
   * queue, cannot be received in between. Of rivals one after the other finds what is left.
   */
  @Transactional()
  private async recoverPage(
    endpoint: OwnedWebhookEndpoint,
    since: Date,
    after: string | undefined,
  ): Promise<RecoveredPage> {
    await this.holdLane(endpoint);
    const page = { after, limit: EVENTS_PER_PAGE };
    const eventIds = await this.requestLog.failedEvents(endpoint.id, since, page);
    const queued = await this.queue.addAgain(endpoint, eventIds, this.attemptsAllowed);
    this.transaction.afterCommit(() => this.lanes.call([endpoint.id]));
    return { queued, last: eventIds.length === EVENTS_PER_PAGE ? eventIds.at(-1) : undefined };
  }

  @Transactional()
  private async claimedTest(endpoint: OwnedWebhookEndpoint, name: EventName): Promise<ClaimedDelivery> {
    const { clientId, environment } = endpoint.client;
    const event = { ...this.publisher.newEvent({ clientId, environment }, exampleEvent(name)), isTest: true };
    await this.events.add(event);
    return this.queue.addClaimed(event, endpoint);
  }

  /** The endpoint may have been deleted since it was found. */
  private async holdLane({ id }: OwnedWebhookEndpoint): Promise<void> {
    if (!(await this.queue.lockLane(id))) throw WEBHOOK_ENDPOINT_NOT_FOUND.error();
  }

  private get attemptsAllowed(): number {
    return 1 + this.configuration.retryDelays.length;
  }

  private messageAbout({ statusCode, reason, explanation }: Outcome): string {
    if (reason === null) return 'The endpoint received the event.';
    if (reason !== 'NON_200') return explanation ?? 'The endpoint did not answer.';
    const retries = this.configuration.retryDelays.length;
    const times = retries === 2 ? 'twice more' : `${retries} times more`;
    return `The endpoint answered ${statusCode}. Only 200 counts: a real event would be sent ${times}.`;
  }
}
