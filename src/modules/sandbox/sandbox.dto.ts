import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import {
  eachItem,
  ExternalUserId,
  Field,
  firstViolation,
  isArray,
  isInteger,
  isNotEmpty,
  isObject,
  isOneOf,
  isString,
  isUuid,
  maximum,
  maximumCharacters,
  maximumItems,
  minimum,
  type FieldOptions,
  type Rule,
} from '../../infrastructure/validation/index.js';
import { EVENT_NAMES, SESSION_METADATA, type EventName } from '../webhooks/index.js';

const GREATEST_MERCHANT_ID = 2 ** 31 - 1;
const MAX_MERCHANT_NAME_LENGTH = 256;
const MAX_MERCHANTS = 100;

const MERCHANT_ID_RULES: readonly Rule[] = [isInteger, minimum(1), maximum(GREATEST_MERCHANT_ID)];

function MerchantId(options: Pick<FieldOptions, 'required'> = {}): PropertyDecorator {
  return Field({
    ...options,
    rules: MERCHANT_ID_RULES,
    document: {
      type: 'integer',
      minimum: 1,
      maximum: GREATEST_MERCHANT_ID,
      description: 'The merchant’s id.',
      example: 16,
    },
  });
}

function SessionId(description: string): PropertyDecorator {
  return Field({
    required: false,
    rules: [isUuid],
    document: {
      type: String,
      format: 'uuid',
      description,
      example: 'fb5aa994-ed1c-4c3e-b29a-b2a53222e584',
    },
  });
}

export class LinkAccountRequest {
  @ExternalUserId()
  external_user_id!: string;

  @MerchantId()
  merchant_id!: number;

  @SessionId(
    'A session of this user: its card and metadata are in the event. Without one the event has a session that does not exist.',
  )
  session_id?: string;
}

export class DisconnectAccountRequest {
  @ExternalUserId()
  external_user_id!: string;

  @MerchantId()
  merchant_id!: number;

  @SessionId('A session of this user. It is looked up, and changes nothing: the event has no session.')
  session_id?: string;
}

const MERCHANT_NAME_RULES: readonly Rule[] = [isString, maximumCharacters(MAX_MERCHANT_NAME_LENGTH)];

/** A merchant by name, as people spell it, or by id. */
const isMerchant: Rule = (value, field) =>
  firstViolation(value, field, typeof value === 'number' ? MERCHANT_ID_RULES : MERCHANT_NAME_RULES);

export class DetectAccountsRequest {
  @ExternalUserId()
  external_user_id!: string;

  @Field({
    rules: [isArray, isNotEmpty, maximumItems(MAX_MERCHANTS), eachItem([isMerchant])],
    document: {
      type: 'array',
      items: {
        oneOf: [
          { type: 'string', minLength: 1, maxLength: MAX_MERCHANT_NAME_LENGTH },
          { type: 'integer', minimum: 1, maximum: GREATEST_MERCHANT_ID },
        ],
      },
      minItems: 1,
      maxItems: MAX_MERCHANTS,
      description: 'Merchants by name, in any usual spelling, or by id: 1 to 100.',
      example: ['DoorDash', 16],
    } as ApiPropertyOptions,
  })
  merchants!: (string | number)[];
}

export class TriggerWebhookRequest {
  @Field({
    rules: [isOneOf(EVENT_NAMES)],
    document: { enum: [...EVENT_NAMES], description: 'The event to send.', example: 'CARD_UPDATED' },
  })
  event!: EventName;

  @SessionId('A session of yours: its user and metadata are in the event.')
  session_id?: string;

  @ExternalUserId({ required: false })
  external_user_id?: string;

  @MerchantId({ required: false })
  merchant_id?: number;

  @Field({
    required: false,
    rules: [isObject],
    document: {
      type: 'object',
      additionalProperties: true,
      description: 'Fields of `data`; those that you leave out are as in the example of the event.',
      example: { card_id: 'my-card' },
    },
  })
  data?: Record<string, unknown>;

  @Field({
    required: false,
    ownNames: true,
    rules: SESSION_METADATA.rules,
    document: {
      type: 'object',
      additionalProperties: { type: 'string', maxLength: 500 },
      maxProperties: 10,
      description: 'The metadata, where the event is one of a session; an empty object for none.',
      example: SESSION_METADATA.example,
    },
  })
  metadata?: Record<string, string>;
}

export class PublishedEventResponse {
  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'Names the event: your endpoints see it as `webhook-id`.',
    example: '0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1',
  })
  event_id!: string;
}

export class LinkedAccountResponse extends PublishedEventResponse {
  @ApiProperty({ type: 'integer', description: 'The `task_id` of the event.', example: 25_605 })
  task_id!: number;

  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'The `session_id` of the event.',
    example: 'fb5aa994-ed1c-4c3e-b29a-b2a53222e584',
  })
  session_id!: string;
}

export class TriggeredWebhookResponse extends PublishedEventResponse {
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'The `task_id` of the event; null where it has none.',
    example: 25_605,
  })
  task_id!: number | null;
}
