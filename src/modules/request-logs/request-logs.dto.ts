import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { INVALID_CURSOR_FORMAT } from '../../infrastructure/crypto/index.js';
import { ENVIRONMENT_MISMATCH, type ErrorCode } from '../../infrastructure/errors/index.js';
import { TRANSPORT_FAILURES } from '../../infrastructure/http-client/index.js';
import {
  EnumProperty,
  ERROR_CODE,
  exampleOf,
  IntegerProperty,
  ObjectProperty,
  TextProperty,
  TimestampProperty,
  UuidProperty,
  withMessages,
  type OperationDocument,
} from '../../infrastructure/openapi/index.js';
import { CursorField, DEFAULT_PAGE_SIZE, PageOf, PageSizeField } from '../../infrastructure/paging/index.js';
import { enumeration } from '../../infrastructure/schemas/index.js';
import {
  Constraint,
  EnumField,
  EnvironmentField,
  ExternalUserIdField,
  IntegerField,
  MESSAGES,
  TextField,
  TimestampField,
  UuidField,
  withMessage,
} from '../../infrastructure/validation/index.js';
import {
  MAX_OPERATION_LENGTH,
  REQUEST_LOG_OUTCOMES,
  REQUEST_LOG_TYPES,
  type RequestLogOutcome,
  type RequestLogType,
} from './request-log-entry.js';
import { IsWithinPeriod, MAX_PERIOD_DAYS } from './request-log-period.js';
import { REQUEST_LOG_NOT_FOUND, REQUEST_LOG_QUERY_TIMEOUT } from './request-logs-errors.js';

/** The message of `REQUEST_LOG_QUERY_TIMEOUT` for a single entry or event. */
export const ENTRY_QUERY_TIMEOUT_MESSAGE = 'The query took too long. Retry later.';

const REQUEST_LOG_TYPE = enumeration(
  'RequestLogType',
  REQUEST_LOG_TYPES,
  '`request`: an API request. `webhook`: a delivery attempt.',
);

const REQUEST_LOG_OUTCOME = enumeration(
  'RequestLogOutcome',
  REQUEST_LOG_OUTCOMES,
  'How an API request or a delivery attempt ended.',
);

const EXAMPLE_CURSOR = 'AVmXo2uFyR7Q1dJ0c3hKp1tbMTc2OTg0NzMzMDEyMywxNzY5ODQ3MzMwMTIzLDQyXQ';
const EXAMPLE_SESSION = 'fb5aa994-ed1c-4c3e-b29a-b2a53222e584';
const EXAMPLE_ENDPOINT = 'c7d1a3b2-6a7e-4a4e-9a57-2f8f0d3b5c11';
const EXAMPLE_EVENT = 'c1a8d2b4-6f0e-4f43-9b1d-2f6f0a1f9c55';
const EXAMPLE_REQUEST_ID = '5f0c1c1e-9f7b-4b0e-8a52-3f6f0f1f2b3c';
const MAX_EVENT_LENGTH = 100;
const MAX_REQUEST_ID_LENGTH = 64;
const MAX_API_KEY_LENGTH = 100;
const FAILURES = TRANSPORT_FAILURES.map((reason) => `\`${reason}\``).join(', ');
const REASON =
  'Why the delivery attempt failed; null if it succeeded, and for an API request. `NON_200`: the endpoint responded with ' +
  'a status other than 200. `INTERRUPTED`: the service’s process ended during the attempt. ' +
  '`KEY_UNAVAILABLE`: the service could not read the key of the endpoint, and sent nothing. All other values say why there ' +
  `was no response: ${FAILURES}.`;

const NO_RESPONSE = 0;
const MIN_STATUS_CODE = 100;

function IsStatusCode(): PropertyDecorator {
  const isStatusCode = (value: unknown): boolean =>
    value === NO_RESPONSE || (value as number) >= MIN_STATUS_CODE;
  return Constraint('isStatusCode', isStatusCode, withMessage(MESSAGES.min, MIN_STATUS_CODE));
}

const FILTER = { in: 'query', required: false } as const;

/** The filters of the request log, and the position of a page. */
export class ListRequestLogsQuery {
  @EnvironmentField({
    in: 'query',
    description: 'The environment of the log. Must match the environment of the access token.',
  })
  environment!: PlatformEnvironment;

  @TimestampField({
    ...FILTER,
    description:
      `Only entries created at or after this time; at most ${MAX_PERIOD_DAYS} days before \`end\`. The default is 24 ` +
      'hours before `end`.',
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

  @EnumField(REQUEST_LOG_TYPE, {
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

  @IntegerField(
    {
      ...FILTER,
      min: NO_RESPONSE,
      max: 599,
      description:
        'Only entries with this status code, 100 to 599: of the API’s response, or of your endpoint’s response to a ' +
        'webhook. `0`: only delivery attempts without a response.',
      example: 200,
    },
    IsStatusCode(),
  )
  status_code?: number;

  @EnumField(ERROR_CODE, {
    ...FILTER,
    description: 'Only API requests whose response has this `error_code`.',
    example: 'INVALID_FIELD',
  })
  error_code?: ErrorCode;

  @TextField({
    ...FILTER,
    max: MAX_REQUEST_ID_LENGTH,
    description: 'Only API requests with this `X-Request-Id`.',
    example: EXAMPLE_REQUEST_ID,
  })
  request_id?: string;

  @TextField({
    ...FILTER,
    max: MAX_API_KEY_LENGTH,
    description: 'Only API requests that were sent with the API key of this name.',
    example: 'order-service',
  })
  api_key?: string;

  @UuidField({
    ...FILTER,
    description: 'Only delivery attempts to this webhook endpoint.',
    example: EXAMPLE_ENDPOINT,
  })
  endpoint_id?: string;

  @UuidField({
    ...FILTER,
    description:
      'Only delivery attempts for the event with this ID, the `webhook-id` header of its deliveries.',
    example: EXAMPLE_EVENT,
  })
  event_id?: string;

  @EnumField(REQUEST_LOG_OUTCOME, {
    ...FILTER,
    description:
      '`success`: only API requests with a status code below 400, and delivery attempts to which your endpoint responded ' +
      'with 200. `failure`: only the others.',
    example: 'failure',
  })
  outcome?: RequestLogOutcome;

  @PageSizeField('Maximum number of entries in the page. It can differ from page to page.')
  limit: number = DEFAULT_PAGE_SIZE;

  @CursorField(
    'The `next_cursor` of the previous page. Send the other parameters, including `start` and `end`, unchanged; ' +
      '`limit` can differ.',
    { example: EXAMPLE_CURSOR },
  )
  cursor?: string;
}

/** The filters of the pages. */
export class RequestLogPageQuery extends ListRequestLogsQuery {
  /** The method and the path of API requests, with `{id}` in place of IDs, as the overview lists them. */
  @TextField({ in: 'form', required: false, max: MAX_OPERATION_LENGTH })
  operation?: string;
}

export class RequestLogEntryResponse {
  @IntegerProperty('ID of the entry.', 8_001_234, { format: 'int64' })
  id!: number;

  @EnumProperty(REQUEST_LOG_TYPE, 'The kind of entry.', 'request')
  type!: RequestLogType;

  @TimestampProperty('When the response was sent or the attempt ended.')
  datetime!: Date;

  @TextProperty('HTTP method.', 'POST')
  method!: string;

  @TextProperty('Path of the API request; null for a delivery attempt.', '/mcp/tokens/create', {
    nullable: true,
  })
  path!: string | null;

  @TextProperty(
    'URL that the webhook was sent to, with `***` in place of anything that looks like a secret; null for an API ' +
      'request.',
    null,
  )
  url!: string | null;

  @TextProperty('Name of the webhook event; null for an API request.', null)
  event!: string | null;

  @IntegerProperty(
    'Status code of the API’s response, or of your endpoint’s response to the webhook; 0 if there was no response.',
    200,
    { minimum: 0, maximum: 599 },
  )
  status_code!: number;

  @IntegerProperty('Milliseconds until the response.', 12, { minimum: 0 })
  latency_ms!: number;

  @UuidProperty('The session that the entry belongs to; null if there is none.', null)
  session_id!: string | null;

  @IntegerProperty('The task that the entry belongs to; null if there is none.', null, { format: 'int64' })
  task_id!: number | null;

  @TextProperty(
    'Your identifier for the user that the entry belongs to; null if there is none.',
    'user-8f3a',
    { nullable: true },
  )
  external_user_id!: string | null;

  @TextProperty('The tool that an agent called; null for other requests.', null)
  tool!: string | null;

  @TextProperty(
    'Name and host of the agent that called the tool, if its user connected it; null for an agent with a token from ' +
      '`POST /mcp/tokens/create`, and for other requests.',
    null,
  )
  agent!: string | null;

  @TextProperty(
    'Name of the API key that the request was sent with; null if it was sent with the secret, and for other entries.',
    null,
  )
  api_key!: string | null;

  @EnumProperty(
    ERROR_CODE,
    'The `error_code` of the response; null if the request succeeded, for a delivery attempt, and for entries from before the ' +
      'service recorded errors.',
    null,
  )
  error_code!: string | null;

  @TextProperty(
    'The `error_message` of the response, at most 500 characters; null if the request succeeded, for a delivery attempt, for ' +
      'entries from before the service recorded errors, and after the data of the user was erased.',
    null,
  )
  error_message!: string | null;

  @TextProperty(
    'The `X-Request-Id` of the response; null for a delivery attempt, and for entries from before the service recorded it.',
    null,
  )
  request_id!: string | null;

  @UuidProperty('The webhook endpoint that the event was sent to; null for an API request.', null)
  endpoint_id!: string | null;

  @UuidProperty(
    'ID of the webhook event, the `webhook-id` header of its deliveries; null for an API request.',
    null,
  )
  event_id!: string | null;

  @TextProperty(REASON, null)
  reason!: string | null;
}

export class LoggedDeliveryResponse {
  @UuidProperty('ID of the webhook endpoint, like `endpoint_id` of the entry.', EXAMPLE_ENDPOINT)
  webhook_endpoint_id!: string;

  @UuidProperty('ID of the event, like `event_id` of the entry.', EXAMPLE_EVENT)
  event_id!: string;

  @IntegerProperty('Number of the attempt, starting at 1.', 1)
  attempt!: number;

  @TextProperty('Why the attempt failed, like `reason` of the entry.', 'NON_200', { nullable: true })
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
  return IntegerProperty(
    `Milliseconds ${what}; null if the attempt did not reach or did not need this step.`,
    7,
    { nullable: true },
  );
}

export class SingleRequestLogEntryResponse extends RequestLogEntryResponse {
  @ObjectProperty(LoggedDeliveryResponse, 'Details of a delivery attempt; null for an API request.', {
    example: null,
  })
  delivery!: LoggedDeliveryResponse | null;

  @IntegerProperty(
    'Version of the secret that the request was sent with; null if it was sent with an API key or a token, if the credentials ' +
      'were refused, and for a delivery attempt.',
    null,
  )
  secret_version!: number | null;

  @TextProperty(
    'IP address that sent the request; null for a delivery attempt, for entries from before the service recorded it, and after ' +
      'the data of the user was erased.',
    null,
  )
  ip_address!: string | null;

  @TextProperty(
    'The `User-Agent` of the request, at most 512 characters; null if it had none, and otherwise like `ip_address`.',
    null,
  )
  user_agent!: string | null;

  @TextProperty(
    'The beginning of your endpoint’s response, if its status was not 200 and the body was text: at most 2 KiB, with ' +
      '`[REDACTED]` in place of anything that looks like a secret. Null otherwise, and for an API request.',
    null,
  )
  response_body!: string | null;
}

/** The fields that only the operation for a single entry returns. */
export type SingleField = 'secret_version' | 'ip_address' | 'user_agent' | 'response_body';
/** An entry in a list or an export. */
export type RequestLogEntry = Omit<SingleRequestLogEntryResponse, SingleField>;

/** The columns of an exported entry: the fields of the API, as paths. */
export const REQUEST_LOG_COLUMNS = [
  'id',
  'type',
  'datetime',
  'method',
  'path',
  'url',
  'event',
  'status_code',
  'latency_ms',
  'session_id',
  'task_id',
  'external_user_id',
  'delivery.webhook_endpoint_id',
  'delivery.event_id',
  'delivery.attempt',
  'delivery.reason',
  'delivery.dns_ms',
  'delivery.connect_ms',
  'delivery.tls_ms',
  'delivery.first_byte_ms',
  'tool',
  'agent',
  'error_code',
  'error_message',
  'request_id',
  'api_key',
];

export class RequestLogListResponse extends PageOf(RequestLogEntryResponse, 'The entries, newest first.', {
  example: EXAMPLE_CURSOR,
}) {}

const EXAMPLE_REQUEST = {
  ...exampleOf(RequestLogEntryResponse),
  id: 8_001_235,
  datetime: '2026-01-31T08:15:31.004Z',
};

const EXAMPLE_ATTEMPT = {
  ...exampleOf(RequestLogEntryResponse),
  type: 'webhook',
  path: null,
  url: 'https://hooks.example.com/merchants?token=***',
  event: 'CARD_UPDATED',
  status_code: 503,
  latency_ms: 84,
  session_id: EXAMPLE_SESSION,
  task_id: 25_605,
  endpoint_id: EXAMPLE_ENDPOINT,
  event_id: EXAMPLE_EVENT,
  reason: 'NON_200',
};

const EXAMPLE_PAGE = { data: [EXAMPLE_REQUEST, EXAMPLE_ATTEMPT] };

const EXAMPLE_ENTRY = {
  ...EXAMPLE_ATTEMPT,
  delivery: {
    ...exampleOf(LoggedDeliveryResponse),
    dns_ms: 2,
    connect_ms: 11,
    tls_ms: 23,
    first_byte_ms: 48,
  },
  response_body: '{"error":"The queue is full."}',
};

export const LIST_REQUEST_LOGS: OperationDocument = {
  operationId: 'listRequestLogs',
  place: 4,
  summary: 'List request logs',
  description:
    'Returns the API requests and the webhook delivery attempts of an environment as one list, newest first. Use it ' +
    'to see what your program sent and how your endpoints responded. Entries must match all given filters; `event` ' +
    'with `type=request` matches nothing. Credentials, bodies of requests and of successful responses, and headers other than `User-Agent` are not stored.\n\nTo get the following ' +
    'pages, send the `next_cursor` of each page until it is null. Entries added in the meantime do not shift the ' +
    'pages, and no entry is listed twice. Under load, a new entry can take about a second to appear: to get all ' +
    'entries, for example for an archive, request a period that ended at least a minute ago.',
  response: RequestLogListResponse,
  responseDescription: 'A page of the request log.',
  responseExample: EXAMPLE_PAGE,
  errors: [INVALID_CURSOR_FORMAT, ENVIRONMENT_MISMATCH, REQUEST_LOG_QUERY_TIMEOUT],
};

export const GET_REQUEST_LOG: OperationDocument = {
  operationId: 'getRequestLog',
  summary: 'Get a request log entry',
  description:
    'Returns one entry. For an API request, the entry also says who sent it. For a delivery attempt, it also has the number of the attempt, the durations of its phases, ' +
    'and the beginning of your endpoint’s response if it was not 200. Use it to find out why a delivery failed. Entries of the other ' +
    'environment are not found.',
  pathParameters: {
    id: {
      component: 'RequestLogEntryIdParameter',
      schema: 'int64',
      description: 'The `id` of the entry.',
      example: 8_001_234,
    },
  },
  response: SingleRequestLogEntryResponse,
  responseDescription: 'The entry.',
  responseExample: EXAMPLE_ENTRY,
  errors: [REQUEST_LOG_NOT_FOUND, withMessages(REQUEST_LOG_QUERY_TIMEOUT, ENTRY_QUERY_TIMEOUT_MESSAGE)],
};
