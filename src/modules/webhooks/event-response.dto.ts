import { BooleanProperty, UuidProperty } from '../../infrastructure/openapi/index.js';

/** The response to a request that published an event. */
export class EventResponse {
  @UuidProperty('ID of the event: its `webhook-id` header.', '0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1')
  event_id!: string;

  @BooleanProperty(
    'Whether the event had been published before with this key. Then `event_id` is its ID.',
    false,
  )
  duplicate!: boolean;
}
