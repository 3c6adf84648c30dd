import { IntegerProperty, UuidProperty } from '../../infrastructure/openapi/index.js';
import {
  EnumField,
  ExternalUserIdField,
  IntegerField,
  ObjectField,
  UuidField,
} from '../../infrastructure/validation/index.js';
import { MAX_MERCHANT_ID } from '../merchants/index.js';
import { EVENT_NAME, EventTimestampField, MetadataField, type EventName } from '../webhooks/index.js';

const MERCHANT_ID = { min: 1, max: MAX_MERCHANT_ID, description: 'ID of the merchant.', example: 16 };

function SessionIdField(description: string): PropertyDecorator {
  return UuidField({ required: false, description, example: 'fb5aa994-ed1c-4c3e-b29a-b2a53222e584' });
}

class AccountRequest {
  @ExternalUserIdField()
  external_user_id!: string;

  @IntegerField(MERCHANT_ID)
  merchant_id!: number;

  @EventTimestampField()
  timestamp?: number;
}

export class LinkAccountRequest extends AccountRequest {
  @SessionIdField(
    'A session of this user. The event contains its card and metadata. Without this field, the event names a ' +
      'session that does not exist.',
  )
  session_id?: string;
}

export class DisconnectAccountRequest extends AccountRequest {
  @SessionIdField('A session of this user. It must exist, but the event does not name a session.')
  session_id?: string;
}

export class TriggerWebhookRequest {
  @EnumField(EVENT_NAME, { description: 'The event to send.', example: 'CARD_UPDATED' })
  event!: EventName;

  @SessionIdField('One of your sessions. The event contains its user and metadata.')
  session_id?: string;

  @ExternalUserIdField({ required: false })
  external_user_id?: string;

  @IntegerField({ ...MERCHANT_ID, required: false })
  merchant_id?: number;

  @ObjectField({
    required: false,
    members: { additionalProperties: true },
    description: 'Fields of `data`. Fields that you omit have the values of the event’s example.',
    example: { card_id: 'my-card' },
  })
  data?: Record<string, unknown>;

  @MetadataField('For events of a session. An empty object means none.')
  metadata?: Record<string, string>;

  @EventTimestampField()
  timestamp?: number;
}

export class PublishedEventResponse {
  @UuidProperty('ID of the event: its `webhook-id` header.', '0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1')
  event_id!: string;
}

export class LinkedAccountResponse extends PublishedEventResponse {
  @IntegerProperty('The `task_id` of the event.', 25_605, { format: 'int64' })
  task_id!: number;

  @UuidProperty('The `session_id` of the event.', 'fb5aa994-ed1c-4c3e-b29a-b2a53222e584')
  session_id!: string;
}

export class TriggeredWebhookResponse extends PublishedEventResponse {
  @IntegerProperty('The `task_id` of the event; null if the event has none.', 25_605, {
    format: 'int64',
    nullable: true,
  })
  task_id!: number | null;
}
