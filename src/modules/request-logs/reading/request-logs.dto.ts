import { ApiProperty } from '@nestjs/swagger';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { TRANSPORT_FAILURES } from '../../../infrastructure/http-client/index.js';
import { periodOf, type Period } from '../../../infrastructure/time/index.js';
import {
  Environment,
  ExternalUserId,
  Field,
  IntegerInQuery,
  isMissing,
  isOneOf,
  isString,
  isUuid,
  maximumCharacters,
  TimeBound,
  type FieldOptions,
  type Rule,
} from '../../../infrastructure/validation/index.js';
import { validatePeriod, MAX_PERIOD_DAYS } from './request-log-period.js';
import { REQUEST_LOG_TYPES, type RequestLogType } from '../storage/request-log-store.js';

const EXAMPLE_CURSOR = 'AVmXo2uFyR7Q1dJ0c3hKp1tbMTc2OTg0NzMzMDEyMywxNzY5ODQ3MzMwMTIzLDQyXQ';
const EXAMPLE_SESSION = 'fb5aa994-ed1c-4c3e-b29a-b2a53222e584';
const DEFAULT_PAGE = 25;
const LARGEST_PAGE = 50;
const MAX_EVENT_LENGTH = 100;
const NO_ANSWER = TRANSPORT_FAILURES.map((reason) => `\`${reason}\``).join(', ');

/** Said here where both are given; where the end is left out, the service says it. */
const isInTimeBehindStart: Rule = (value, { object: { start } }) =>
  isMissing(start)
    ? undefined
    : validatePeriod(periodOf({ start: start as string, end: value as string }) as Required<Period>);

function Filter(options: Pick<FieldOptions, 'rules' | 'document'>): PropertyDecorator {
  return Field({ ...options, in: 'query', required: false });
}

export class ListRequestLogsQuery {
  @Environment('The environment whose log is read. Must be that of the access token.', { in: 'query' })
  environment!: PlatformEnvironment;

  @TimeBound(
    `Only entries created at this time or later, at most ${MAX_PERIOD_DAYS} days before \`end\`: ` +
      '`YYYY-MM-DDTHH:MM:SSZ`. 24 hours before `end` when it is left out.',
    '2026-01-31T00:00:00Z',
  )
  start?: string;

  @TimeBound(
    'Only entries created at this time or earlier. The current time when it is left out, and for the pages that ' +
      'follow the time of the first.',
    '2026-01-31T23:59:59Z',
    [isInTimeBehindStart],
  )
  end?: string;

  @Filter({
    rules: [isOneOf(REQUEST_LOG_TYPES)],
    document: {
      enum: [...REQUEST_LOG_TYPES],
      description: '`request`: only API calls. `webhook`: only attempts to deliver a webhook.',
      example: 'webhook',
    },
  })
  type?: RequestLogType;

  @Filter({
    rules: [isUuid],
    document: {
      type: String,
      format: 'uuid',
      description: 'Only entries of this session.',
      example: EXAMPLE_SESSION,
    },
  })
  session_id?: string;

  @IntegerInQuery({ description: 'Only entries of this task.', example: 25_605 })
  task_id?: number;

  @ExternalUserId({ in: 'query', required: false })
  external_user_id?: string;

  @Filter({
    rules: [isString, maximumCharacters(MAX_EVENT_LENGTH)],
    document: {
      type: String,
      maxLength: MAX_EVENT_LENGTH,
      description: 'Only attempts to deliver a webhook of this event.',
      example: 'CARD_UPDATED',
    },
  })
  event?: string;

  @IntegerInQuery({
    from: 100,
    to: 599,
    description: 'Only entries with this status: that of our answer, or of your endpoint’s to a webhook.',
    example: 200,
  })
  status_code?: number;

  @IntegerInQuery({
    from: 1,
    to: LARGEST_PAGE,
    default: DEFAULT_PAGE,
    description: 'The most entries that a page may have. It may change from page to page.',
    example: 25,
  })
  limit: number = DEFAULT_PAGE;

  @Filter({
    // Whatever it is, it is looked at as a cursor: one that is none has an error of its own.
    rules: [],
    document: {
      type: String,
      description:
        'The `next_cursor` of the previous page. Send the other parameters again as they were, `start` and `end` ' +
        'included; `limit` may differ.',
      example: EXAMPLE_CURSOR,
    },
  })
  cursor?: string;
}

export class RequestLogEntryResponse {
  @ApiProperty({ type: 'integer', format: 'int64', description: 'Names the entry.', example: 8_001_234 })
  id!: number;

  @ApiProperty({
    enum: REQUEST_LOG_TYPES,
    description: '`request`: an API call. `webhook`: an attempt to deliver a webhook.',
    example: 'request',
  })
  type!: RequestLogType;

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'When the answer left, or the attempt was over.',
    example: '2026-01-31T08:15:30.123Z',
  })
  datetime!: Date;

  @ApiProperty({ type: String, description: 'HTTP method.', example: 'POST' })
  method!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Path of the API call; null for a webhook.',
    example: '/mcp/tokens/create',
  })
  path!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'Where the webhook was sent, with `***` in place of what looks like a secret; null for an API call.',
    example: null,
  })
  url!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Name of the webhook’s event; null for an API call.',
    example: null,
  })
  event!: string | null;

  @ApiProperty({
    type: 'integer',
    description:
      'Status of our answer to the API call, or of your endpoint’s to the webhook; 0 where it did not answer.',
    example: 200,
  })
  status_code!: number;

  @ApiProperty({ type: 'integer', description: 'Milliseconds until the answer.', example: 12 })
  latency_ms!: number;

  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'The session that it was about; null where there was none.',
    example: null,
  })
  session_id!: string | null;

  @ApiProperty({
    type: 'integer',
    format: 'int64',
    nullable: true,
    description: 'The task that it was about; null where there was none.',
    example: null,
  })
  task_id!: number | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Your identifier of the user whom it was about; null where there was none.',
    example: 'user-8f3a',
  })
  external_user_id!: string | null;
}

export class LoggedDeliveryResponse {
  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'The webhook endpoint.',
    example: 'c7d1a3b2-6a7e-4a4e-9a57-2f8f0d3b5c11',
  })
  webhook_endpoint_id!: string;

  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'The event, as in the header `webhook-id` of its deliveries.',
    example: 'c1a8d2b4-6f0e-4f43-9b1d-2f6f0a1f9c55',
  })
  event_id!: string;

  @ApiProperty({
    type: 'integer',
    description: 'Which attempt to deliver the event it was: 1 for the first.',
    example: 1,
  })
  attempt!: number;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'Why it failed; null where it succeeded. `NON_200`: the endpoint answered, but not 200. `INTERRUPTED`: our ' +
      `process ended meanwhile. All others say why there was no answer: ${NO_ANSWER}.`,
    example: 'NON_200',
  })
  reason!: string | null;

  @Phase('to resolve the host name')
  dns_ms!: number | null;

  @Phase('to connect')
  connect_ms!: number | null;

  @Phase('for the TLS handshake')
  tls_ms!: number | null;

  @Phase('from the request to the first byte of the answer')
  first_byte_ms!: number | null;
}

function Phase(what: string): PropertyDecorator {
  return ApiProperty({
    type: 'integer',
    nullable: true,
    description: `Milliseconds ${what}; null where it did not get there or had no need to.`,
    example: 7,
  });
}

export class SingleRequestLogEntryResponse extends RequestLogEntryResponse {
  @ApiProperty({
    type: LoggedDeliveryResponse,
    nullable: true,
    description: 'More about an attempt to deliver a webhook; null for an API call.',
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
    description: 'Send it as `cursor` to get the next page; null on the last one.',
    example: EXAMPLE_CURSOR,
  })
  next_cursor!: string | null;

  @ApiProperty({ type: 'integer', description: 'The most entries that this page could have.', example: 25 })
  limit!: number;
}

const EXAMPLE_CALL = {
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
  data: [EXAMPLE_CALL, EXAMPLE_ATTEMPT],
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
