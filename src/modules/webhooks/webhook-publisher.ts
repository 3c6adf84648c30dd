import type { AttributedClient } from '../../infrastructure/http/index.js';
import type { EventName, EventOf } from './events/event-catalogue.js';

/** Tells a client's endpoints what happened. */
export abstract class WebhookPublisher {
  /**
   * Joins the caller's transaction: event and deliveries are there when it commits, or not at all.
   *
   * @returns the event's id, which receivers see as `webhook-id`
   */
  abstract publish<Name extends EventName>(client: AttributedClient, event: EventOf<Name>): Promise<string>;
}
