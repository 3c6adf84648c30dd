import { ApiProperty } from '@nestjs/swagger';
import { Field, isOneOf, isString, isTimestamp } from '../../../infrastructure/validation/index.js';
import { TRANSPORT_FAILURES } from '../../../infrastructure/http-client/index.js';
import { EVENT_NAMES, type EventName } from '../events/event-catalogue.js';
import type { FailureReason } from '../queue/delivery.js';

const EXAMPLE_EVENT_ID = 'c1a8d2b4-6f0e-4f43-9b1d-2f6f0a1f9c55';

export class TestWebhookEndpointRequest {
  @Field({
    required: false,
    rules: [isOneOf(EVENT_NAMES)],
    document: {
      enum: [...EVENT_NAMES],
      default: 'AUTHENTICATED',
      description: 'The kind of event to send, with the fields of its example.',
      example: 'AUTHENTICATED',
    },
  })
  event?: EventName;
}

export class TestedWebhookEndpointResponse {
  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'The event, as in the header `webhook-id`.',
    example: EXAMPLE_EVENT_ID,
  })
  event_id!: string;

  @ApiProperty({
    type: Boolean,
    description: 'Whether it counts as received: the endpoint answered 200 in time.',
    example: false,
  })
  received!: boolean;

  @ApiProperty({
    type: 'integer',
    description: 'What the endpoint answered; 0 when it did not.',
    example: 204,
  })
  status_code!: number;

  @ApiProperty({
    type: String,
    enum: [...TRANSPORT_FAILURES, 'NON_200', null],
    nullable: true,
    description: 'Why it does not count; null when it does.',
    example: 'NON_200',
  })
  reason!: FailureReason | null;

  @ApiProperty({
    type: String,
    description: 'The same for people.',
    example: 'The endpoint answered 204. Only 200 counts: a real event would be sent twice more.',
  })
  message!: string;

  @ApiProperty({ type: 'integer', description: 'Milliseconds until it was over.', example: 84 })
  latency_ms!: number;
}

export const EXAMPLE_TEST: TestedWebhookEndpointResponse = {
  event_id: EXAMPLE_EVENT_ID,
  received: false,
  status_code: 204,
  reason: 'NON_200',
  message: 'The endpoint answered 204. Only 200 counts: a real event would be sent twice more.',
  latency_ms: 84,
};

export class RedeliverRequest {
  @Field({
    rules: [isString],
    document: {
      type: String,
      format: 'uuid',
      description: 'The event, as in the header `webhook-id` of its deliveries.',
      example: EXAMPLE_EVENT_ID,
    },
  })
  event_id!: string;
}

export class RecoverRequest {
  @Field({
    rules: [isTimestamp],
    document: {
      type: String,
      format: 'date-time',
      description: 'Since when: `YYYY-MM-DDTHH:MM:SSZ`.',
      example: '2026-01-31T08:00:00Z',
    },
  })
  since!: string;
}

export class QueuedDeliveriesResponse {
  @ApiProperty({ type: 'integer', description: 'Deliveries that were added to the queue.', example: 1 })
  queued!: number;
}
