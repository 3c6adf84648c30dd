import { ApiProperty } from '@nestjs/swagger';
import { EnumField, TextField, TimestampField } from '../../../infrastructure/validation/index.js';
import { TRANSPORT_FAILURES } from '../../../infrastructure/http-client/index.js';
import { EVENT_NAMES, type EventName } from '../events/event-catalogue.js';
import type { FailureReason } from '../queue/delivery.js';

const EXAMPLE_EVENT_ID = 'c1a8d2b4-6f0e-4f43-9b1d-2f6f0a1f9c55';

export class TestWebhookEndpointRequest {
  @EnumField(EVENT_NAMES, {
    required: false,
    default: 'AUTHENTICATED',
    description: 'The kind of event to send. Its fields are those of the example.',
    example: 'AUTHENTICATED',
  })
  event: EventName = 'AUTHENTICATED';
}

export class TestedWebhookEndpointResponse {
  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'ID of the event: its `webhook-id` header.',
    example: EXAMPLE_EVENT_ID,
  })
  event_id!: string;

  @ApiProperty({
    type: Boolean,
    description: 'Whether the event counts as received: the endpoint responded with 200 in time.',
    example: false,
  })
  received!: boolean;

  @ApiProperty({
    type: 'integer',
    description: 'Status code of the endpoint’s response; 0 if there was no response.',
    example: 204,
  })
  status_code!: number;

  @ApiProperty({
    type: String,
    enum: [...TRANSPORT_FAILURES, 'NON_200', null],
    nullable: true,
    description: 'Why the event does not count as received; null if it does.',
    example: 'NON_200',
  })
  reason!: FailureReason | null;

  @ApiProperty({
    type: String,
    description: 'The result in words. The wording may change.',
    example: 'The endpoint responded with 204. Only 200 counts: a real event would be sent twice more.',
  })
  message!: string;

  @ApiProperty({ type: 'integer', description: 'Duration of the attempt in milliseconds.', example: 84 })
  latency_ms!: number;
}

export const EXAMPLE_TEST: TestedWebhookEndpointResponse = {
  event_id: EXAMPLE_EVENT_ID,
  received: false,
  status_code: 204,
  reason: 'NON_200',
  message: 'The endpoint responded with 204. Only 200 counts: a real event would be sent twice more.',
  latency_ms: 84,
};

export class RedeliverRequest {
  @TextField({
    min: 0,
    format: 'uuid',
    description: 'ID of the event: the `webhook-id` header of its deliveries.',
    example: EXAMPLE_EVENT_ID,
  })
  event_id!: string;
}

export class RecoverRequest {
  @TimestampField({
    description: 'Start of the period, as `YYYY-MM-DDTHH:MM:SSZ`.',
    example: '2026-01-31T08:00:00Z',
  })
  since!: string;
}

export class QueuedDeliveriesResponse {
  @ApiProperty({ type: 'integer', description: 'Number of deliveries added to the queue.', example: 1 })
  queued!: number;
}
