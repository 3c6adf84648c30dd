import type { DashboardActor } from '../../infrastructure/auth/index.js';
import type { OwnedWebhookEndpoint } from './webhook-endpoints.service.js';

/** An attempt to deliver an event to an endpoint, from the request log. */
export interface DeliveryAttempt {
  /** ID of the entry in the request log. */
  readonly id: number;
  readonly createdAt: Date;
  readonly event: string | null;
  readonly eventId: string;
  readonly statusCode: number;
  /** Null if the attempt succeeded. */
  readonly reason: string | null;
}

/** The recent deliveries of an endpoint. */
export interface EndpointActivity {
  /** The last attempts, newest first; undefined if the request log is too busy. */
  readonly attempts: readonly DeliveryAttempt[] | undefined;
  /** The number of events in the queue of the endpoint. It stops counting at `MAX_COUNTED`. */
  readonly waiting: number;
}

export const MAX_COUNTED = 1_000;

/** Port: what was sent to an endpoint. The module `webhooks` implements it, and depends on this module. */
export abstract class EndpointDeliveries {
  abstract recent(actor: DashboardActor, endpoint: OwnedWebhookEndpoint): Promise<EndpointActivity>;
}
