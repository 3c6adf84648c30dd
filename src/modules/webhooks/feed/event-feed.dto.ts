import { INVALID_CURSOR_FORMAT } from '../../../infrastructure/crypto/index.js';
import { TOO_MANY_REQUESTS } from '../../../infrastructure/errors/index.js';
import { EVENT_NAME, type EventName } from '../../../infrastructure/event-catalog/index.js';
import {
  BooleanProperty,
  EnumProperty,
  ObjectProperty,
  TextProperty,
  TimestampProperty,
  UuidProperty,
  withMessages,
  type OperationDocument,
} from '../../../infrastructure/openapi/index.js';
import { CursorField, DEFAULT_PAGE_SIZE, PageSizeField } from '../../../infrastructure/paging/index.js';
import {
  EnumListField,
  ExternalUserIdField,
  IntegerField,
  TimestampField,
} from '../../../infrastructure/validation/index.js';
import { EVENT_CURSOR_EXPIRED } from '../webhooks-errors.js';
import { RequestLogsConfiguration } from '../../request-logs/index.js';

/** The scope that reading the feed requires. It is checked again after a request has waited. */
export const FEED_SCOPE = 'webhook_events:read';
/** Requests of one client that can wait at the same time, over all processes. */
export const MAX_WAITING = 50;
export const TOO_MANY_WAITING = `${MAX_WAITING} requests of this client wait for events, which is the maximum. Send fewer at the same time.`;
const MAX_EVENTS = 100;
/** Seconds. */
const MAX_WAIT = 20;

export class ReadWebhookEventsQuery {
  @CursorField(
    'The `next_cursor` of the previous page, for the same filters. Default: begin at `start`, or with the oldest event that is kept.',
  )
  cursor?: string;

  @TimestampField({
    in: 'query',
    required: false,
    description:
      'Begin with the events published since this time. A time before the oldest event that is kept counts as that. Has no effect ' +
      'together with `cursor`.',
    example: '2026-01-31T08:15:30Z',
  })
  start?: string;

  @PageSizeField(undefined, { max: MAX_EVENTS })
  limit: number = DEFAULT_PAGE_SIZE;

  @EnumListField(EVENT_NAME, {
    in: 'query',
    required: false,
    description: 'Only events with this name. Repeat the parameter for several names.',
    example: ['CARD_UPDATED'],
  })
  event?: EventName[];

  @ExternalUserIdField({ in: 'query', required: false })
  external_user_id?: string;

  @IntegerField({
    in: 'query',
    required: false,
    min: 0,
    max: MAX_WAIT,
    default: 0,
    description: 'Seconds that the request waits for the next event if the page would be empty.',
    example: 20,
  })
  wait: number = 0;
}

const EXAMPLE = {
  id: '0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1',
  event: 'MERCHANT_STATUS_UPDATE',
  created_at: '2026-01-31T08:15:30.123Z',
  body: '{"event":"MERCHANT_STATUS_UPDATE","merchant":{"id":16,"name":"Netflix"},"data":{"type":"link","status":"UP"},"timestamp":1769847330123}',
};

export class WebhookEventResponse {
  @UuidProperty('ID of the event: its `webhook-id` header.', EXAMPLE.id)
  id!: string;

  @EnumProperty(EVENT_NAME, 'The name of the event.', EXAMPLE.event)
  event!: string;

  @TimestampProperty(
    'When the event was published, by the clock of the process that published it. It can be up to a minute earlier than that of an event before it.',
  )
  created_at!: Date;

  @TextProperty(
    'The body of the webhook, exactly as endpoints receive it. Missing if the user was erased.',
    EXAMPLE.body,
    { required: false },
  )
  body?: string;

  @BooleanProperty(
    'Present and true if the user of the event was erased, and the body with the user.',
    true,
    {
      required: false,
    },
  )
  erased?: true;
}

export class WebhookEventListResponse {
  @ObjectProperty([WebhookEventResponse], 'The events, in the order in which they were published.')
  data!: WebhookEventResponse[];

  @TextProperty(
    'Send this value as `cursor` to continue. It is also present at the end.',
    'AVmXo2uFyR7Q1dJ0c3hKp1tbMTZd',
  )
  next_cursor!: string;

  @BooleanProperty('Whether there may be more events now. If not, read again later, or send `wait`.', false)
  has_more!: boolean;

  @BooleanProperty(
    'Whether events wait for an earlier publication that has not ended: read again soon. Then they come in the right order.',
    false,
  )
  delayed!: boolean;
}

export const READ_WEBHOOK_EVENTS: OperationDocument = {
  operationId: 'readWebhookEvents',
  summary: 'Read webhook events',
  description: (configurationOf) =>
    'Returns the events of your client in the order in which they were published, whether or not an endpoint received them. ' +
    'Use it if you have no public receiver, or to find what a receiver missed.\n\n' +
    'Store `next_cursor` after you have processed a page, and send it with the next request and the same filters. No event is ' +
    'skipped and none is repeated. (After a failover of the database that lost data, events can be repeated: recognize them by ' +
    '`id`.) A page ends after `limit` events or 1 MiB of bodies. It can be empty although `has_more` is true, if few events match ' +
    'the filters.\n\n' +
    `Events are kept for ${configurationOf(RequestLogsConfiguration).retentionDays} days. If you continue later, events are missing: ` +
    'the response is 410, and its `oldest_cursor` continues with the oldest event. Events that test an endpoint are not included.',
  response: WebhookEventListResponse,
  responseDescription: 'A page of events.',
  responseExample: { data: [EXAMPLE] },
  errors: [INVALID_CURSOR_FORMAT, EVENT_CURSOR_EXPIRED, withMessages(TOO_MANY_REQUESTS, TOO_MANY_WAITING)],
};
