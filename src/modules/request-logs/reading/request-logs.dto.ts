import { ApiProperty } from '@nestjs/swagger';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { TRANSPORT_FAILURES } from '../../../infrastructure/http-client/index.js';
import {
  EnumField,
  EnvironmentField,
  ExternalUserIdField,
  Field,
  IntegerField,
  TextField,
  TimestampField,
  UuidField,
} from '../../../infrastructure/validation/index.js';
import { IsWithinPeriod, MAX_PERIOD_DAYS } from './request-log-period.js';
import { REQUEST_LOG_TYPES, type RequestLogType } from '../storage/request-log-store.js';

const EXAMPLE_CURSOR = 'AVmXo2uFyR7Q1dJ0c3hKp1tbMTc2OTg0NzMzMDEyMywxNzY5ODQ3MzMwMTIzLDQyXQ';
const EXAMPLE_SESSION = 'fb5aa994-ed1c-4c3e-b29a-b2a53222e584';
const DEFAULT_PAGE_SIZE = 25;
const MAX_PAGE_SIZE = 50;
const MAX_EVENT_LENGTH = 100;
const FAILURES = TRANSPORT_FAILURES.map((reason) => `\`${reason}\``).join(', ');

const FILTER = { in: 'query', required: false } as const;

export class ListRequestLogsQuery {
  @EnvironmentField({
    in: 'query',
    description: 'The environment of the log. Must match the environment of the access token.',
  })
  environment!: PlatformEnvironment;

  @TimestampField({
    ...FILTER,
    description:
      `Only entries created at or after this time, as \`YYYY-MM-DDTHH:MM:SSZ\`; at most ${MAX_PERIOD_DAYS} days before ` +
      '`end`. The default is 24 hours before `end`.',
    example: '2026-01-31T00:00:00Z',
  })
  start?: string;

  @TimestampField(
    {
      ...FILTER,
      notBefore: 'start',
      description:
        'Only entries created at or before this time. The default is the current time; for the pages that follow, ' +
        'the time of the first page.',
      example: '2026-01-31T23:59:59Z',
    },
    IsWithinPeriod('start'),
  )
  end?: string;

  @EnumField(REQUEST_LOG_TYPES, {
    ...FILTER,
    description: '`request`: only API requests. `webhook`: only delivery attempts.',
    example: 'webhook',
  })
  type?: RequestLogType;

  @UuidField({ ...FILTER, description: 'Only entries of this session.', example: EXAMPLE_SESSION })
  session_id?: string;

  @IntegerField({ ...FILTER, description: 'Only entries of this task.', example: 25_605 })
  task_id?: number;

  @ExternalUserIdField(FILTER)
  external_user_id?: string;

  @TextField({
    ...FILTER,
    min: 0,
    max: MAX_EVENT_LENGTH,
    description: 'Only delivery attempts of this event.',
    example: 'CARD_UPDATED',
  })
  event?: string;

  @IntegerField({
    ...FILTER,
    min: 100,
    max: 599,
    description:
      'Only entries with this status code: of the API’s response, or of your endpoint’s response to a webhook.',
    example: 200,
  })
  status_code?: number;

  @IntegerField({
    ...FILTER,
    min: 1,
    max: MAX_PAGE_SIZE,
    default: DEFAULT_PAGE_SIZE,
    description: 'Maximum number of entries in the page. It can differ from page to page.',
    example: 25,
  })
  limit: number = DEFAULT_PAGE_SIZE;

  /** Accepts any text: the service refuses invalid cursors with an error code of their own. */
  @Field({
    ...FILTER,
    schema: { type: String },
    description:
      'The `next_cursor` of the previous page. Send the other parameters, including `start` and `end`, unchanged; ' +
      '`limit` can differ.',
    example: EXAMPLE_CURSOR,
  })
  cursor?: string;
}

export class RequestLogEntryResponse {
  @ApiProperty({ type: 'integer', format: 'int64', description: 'ID of the entry.', example: 8_001_234 })
  id!: number;

  @ApiProperty({
    enum: REQUEST_LOG_TYPES,
    description: '`request`: an API request. `webhook`: a delivery attempt.',
    example: 'request',
  })
  type!: RequestLogType;

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'When the response was sent or the attempt ended.',
    example: '2026-01-31T08:15:30.123Z',
  })
  datetime!: Date;

  @ApiProperty({ type: String, description: 'HTTP method.', example: 'POST' })
  method!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Path of the API request; null for a delivery attempt.',
    example: '/mcp/tokens/create',
  })
  path!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'URL that the webhook was sent to, with `***` in place of anything that looks like a secret; null for an API ' +
      'request.',
    example: null,
  })
  url!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Name of the webhook event; null for an API request.',
    example: null,
  })
  event!: string | null;

  @ApiProperty({
    type: 'integer',
    description:
      'Status code of the API’s response, or of your endpoint’s response to the webhook; 0 if there was no response.',
    example: 200,
  })
  status_code!: number;

  @ApiProperty({ type: 'integer', description: 'Milliseconds until the response.', example: 12 })
  latency_ms!: number;

  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'The session that the entry belongs to; null if there is none.',
    example: null,
  })
  session_id!: string | null;

  @ApiProperty({
    type: 'integer',
    format: 'int64',
    nullable: true,
    description: 'The task that the entry belongs to; null if there is none.',
    example: null,
  })
  task_id!: number | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Your identifier for the user that the entry belongs to; null if there is none.',
    example: 'user-8f3a',
  })
  external_user_id!: string | null;
}

export class LoggedDeliveryResponse {
  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'ID of the webhook endpoint.',
    example: 'c7d1a3b2-6a7e-4a4e-9a57-2f8f0d3b5c11',
  })
  webhook_endpoint_id!: string;

  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'ID of the event: the `webhook-id` header of its deliveries.',
    example: 'c1a8d2b4-6f0e-4f43-9b1d-2f6f0a1f9c55',
  })
  event_id!: string;

  @ApiProperty({
    type: 'integer',
    description: 'Number of the attempt, starting at 1.',
    example: 1,
  })
  attempt!: number;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'Why the attempt failed; null if it succeeded. `NON_200`: the endpoint responded with another status than 200. ' +
      '`INTERRUPTED`: the service’s process ended during the attempt. All other values say why there was no ' +
      `response: ${FAILURES}.`,
    example: 'NON_200',
  })
  reason!: string | null;

  @Phase('to resolve the host name')
  dns_ms!: number | null;

  @Phase('to connect')
  connect_ms!: number | null;

  @Phase('for the TLS handshake')
  tls_ms!: number | null;

  @Phase('from the request to the first byte of the response')
  first_byte_ms!: number | null;
}

function Phase(what: string): PropertyDecorator {
  return ApiProperty({
    type: 'integer',
    nullable: true,
    description: `Milliseconds ${what}; null if the attempt did not reach or did not need this step.`,
    example: 7,
  });
}

export class SingleRequestLogEntryResponse extends RequestLogEntryResponse {
  @ApiProperty({
    type: LoggedDeliveryResponse,
    nullable: true,
    description: 'Details of a delivery attempt; null for an API request.',
    example: null,
  })
  delivery!: LoggedDeliveryResponse | null;
}

export class RequestLogListResponse {
  @ApiProperty({ type: [RequestLogEntryResponse], description: 'The entries, newest first.' })
  data!: RequestLogEntryResponse[];

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Send this value as `cursor` to get the next page; null on the last page.',
    example: EXAMPLE_CURSOR,
  })
  next_cursor!: string | null;

  @ApiProperty({ type: 'integer', description: 'Maximum number of entries in this page.', example: 25 })
  limit!: number;
}

const EXAMPLE_REQUEST = {
  id: 8_001_235,
  type: 'request',
  datetime: '2026-01-31T08:15:31.004Z',
  method: 'POST',
  path: '/mcp/tokens/create',
  url: null,
  event: null,
  status_code: 200,
  latency_ms: 12,
  session_id: null,
  task_id: null,
  external_user_id: 'user-8f3a',
};

const EXAMPLE_ATTEMPT = {
  id: 8_001_234,
  type: 'webhook',
  datetime: '2026-01-31T08:15:30.123Z',
  method: 'POST',
  path: null,
  url: 'https://hooks.example.com/merchants?token=***',
  event: 'CARD_UPDATED',
  status_code: 503,
  latency_ms: 84,
  session_id: EXAMPLE_SESSION,
  task_id: 25_605,
  external_user_id: 'user-8f3a',
};

export const EXAMPLE_PAGE = {
  data: [EXAMPLE_REQUEST, EXAMPLE_ATTEMPT],
  next_cursor: EXAMPLE_CURSOR,
  limit: 25,
};

export const EXAMPLE_ENTRY = {
  ...EXAMPLE_ATTEMPT,
  delivery: {
    webhook_endpoint_id: 'c7d1a3b2-6a7e-4a4e-9a57-2f8f0d3b5c11',
    event_id: 'c1a8d2b4-6f0e-4f43-9b1d-2f6f0a1f9c55',
    attempt: 1,
    reason: 'NON_200',
    dns_ms: 2,
    connect_ms: 11,
    tls_ms: 23,
    first_byte_ms: 48,
  },
};
