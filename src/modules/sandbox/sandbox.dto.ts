import { INVALID_FIELD, NO_ACCESS } from '../../infrastructure/errors/index.js';
import {
  IntegerProperty,
  UuidProperty,
  withMessages,
  withSharedMessages,
  type OperationDocument,
} from '../../infrastructure/openapi/index.js';
import {
  EnumField,
  ExternalUserIdField,
  MESSAGES,
  ObjectField,
  UuidField,
} from '../../infrastructure/validation/index.js';
import { EVENT_NAME, MetadataField, type EventName } from '../../infrastructure/event-catalog/index.js';
import { DetectAccountsRequest } from '../detected-accounts/index.js';
import { MERCHANT_ACCOUNT_DISCONNECTED, MERCHANT_ACCOUNT_NOT_FOUND } from '../merchant-accounts/index.js';
import { MERCHANT_NOT_FOUND, MerchantIdField } from '../merchants/index.js';
import { SESSION_NOT_FOUND } from '../sessions/index.js';
import { EVENT_IN_FUTURE, EventTimestampField } from '../webhooks/index.js';

function SessionIdField(description: string): PropertyDecorator {
  return UuidField({ required: false, description, example: 'fb5aa994-ed1c-4c3e-b29a-b2a53222e584' });
}

class AccountRequest {
  @ExternalUserIdField()
  external_user_id!: string;

  @MerchantIdField()
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

  @MerchantIdField({ required: false })
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

export const DEVELOPMENT_ONLY = 'The sandbox requires development credentials.';
const FORBIDDEN = withSharedMessages('DevelopmentOnly', NO_ACCESS, DEVELOPMENT_ONLY);
const IN_FUTURE = withMessages(INVALID_FIELD, EVENT_IN_FUTURE);
const SANDBOX = 'Sandbox: requires development credentials; nothing real is affected.';
const QUEUED = 'The event is queued.';

export const LINK_ACCOUNT: OperationDocument = {
  operationId: 'linkSandboxAccount',
  repeatable: 'always',
  ifRepeated: 'Your endpoints receive another event.',
  summary: 'Link an account (sandbox)',
  description:
    'Simulates a user logging in to the merchant: your development endpoints receive `AUTHENTICATED`, and the account ' +
    `is connected. Use it to test your receiver of \`AUTHENTICATED\` without a real merchant. ${SANDBOX}`,
  body: LinkAccountRequest,
  response: LinkedAccountResponse,
  responseDescription: QUEUED,
  errors: [IN_FUTURE, FORBIDDEN, SESSION_NOT_FOUND, MERCHANT_NOT_FOUND],
};

export const DISCONNECT_ACCOUNT: OperationDocument = {
  operationId: 'disconnectSandboxAccount',
  repeatable: 'always',
  ifRepeated: 'Your endpoints receive another event.',
  summary: 'Disconnect an account (sandbox)',
  description:
    'Simulates a merchant requiring the user to log in again: your development endpoints receive ' +
    '`ACCOUNT_LOGIN_REQUIRED`, and the account is disconnected. Link it first. Use this operation to test how your ' +
    `program asks such a user to log in again. ${SANDBOX}`,
  body: DisconnectAccountRequest,
  response: PublishedEventResponse,
  responseDescription: QUEUED,
  errors: [
    IN_FUTURE,
    FORBIDDEN,
    SESSION_NOT_FOUND,
    MERCHANT_NOT_FOUND,
    MERCHANT_ACCOUNT_NOT_FOUND,
    MERCHANT_ACCOUNT_DISCONNECTED,
  ],
};

export const DETECT_ACCOUNTS: OperationDocument = {
  operationId: 'detectSandboxAccounts',
  repeatable: 'always',
  ifRepeated: 'Your endpoints receive another event.',
  summary: 'Detect accounts (sandbox)',
  description:
    'Records accounts of the user as detected now: "Search detected accounts" finds them, and your development ' +
    'endpoints receive `NEW_DETECTED_ACCOUNTS_AVAILABLE`. Use it to test how your program handles detected accounts. ' +
    SANDBOX,
  body: DetectAccountsRequest,
  response: PublishedEventResponse,
  responseDescription: 'The accounts are recorded and the event is queued.',
  errors: [FORBIDDEN, withMessages(MERCHANT_NOT_FOUND, 'The merchant in merchants[0] does not exist.')],
};

export const TRIGGER_WEBHOOK: OperationDocument = {
  operationId: 'triggerSandboxWebhook',
  repeatable: 'always',
  ifRepeated: 'Your endpoints receive another event.',
  summary: 'Trigger a webhook (sandbox)',
  description:
    'Sends the example of an event to your development endpoints, signed and retried like any other event. Use it to ' +
    'test your receiver with any event. Fields that you send replace those of the example; fields that the event does ' +
    `not have are ignored. ${SANDBOX}`,
  body: TriggerWebhookRequest,
  response: TriggeredWebhookResponse,
  responseDescription: QUEUED,
  errors: [
    withMessages(INVALID_FIELD, MESSAGES.string('data.card id'), EVENT_IN_FUTURE),
    FORBIDDEN,
    SESSION_NOT_FOUND,
    MERCHANT_NOT_FOUND,
  ],
};
