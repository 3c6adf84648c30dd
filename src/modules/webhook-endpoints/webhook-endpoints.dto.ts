import { ApiSchema } from '@nestjs/swagger';
import {
  ArrayNotEmpty,
  IsArray,
  Validate,
  ValidatorConstraint,
  type ValidatorConstraintInterface,
} from 'class-validator';
import { Injectable } from '@nestjs/common';
import { EVENT_NAME, EVENT_NAMES } from '../../infrastructure/event-catalog/index.js';
import {
  BooleanProperty,
  EnumProperty,
  IntegerProperty,
  ObjectProperty,
  TextProperty,
  TimestampProperty,
  UuidProperty,
  uuidParameter,
  type OperationDocument,
} from '../../infrastructure/openapi/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { enumeration } from '../../infrastructure/schemas/index.js';
import {
  ENVIRONMENT as ENVIRONMENT_NAME,
  EnumField,
  EnvironmentField,
  Field,
  HasValidItems,
  IntegerField,
  MESSAGES,
  TextField,
  withMessage,
} from '../../infrastructure/validation/index.js';
import { ENVIRONMENT_MISMATCH } from '../../infrastructure/errors/index.js';
import {
  IDEMPOTENCY_ERRORS,
  IDEMPOTENCY_KEY_PARAMETER,
  IDEMPOTENCY_REPLAYED_HEADER,
} from '../../infrastructure/idempotency/index.js';
import { HttpClient } from '../../infrastructure/http-client/index.js';
import { DEFAULT_OVERLAP_HOURS, MAX_OVERLAP_HOURS } from '../../infrastructure/crypto/index.js';
import { HeadersField, MAX_HEADERS, type HeaderChanges } from './own-headers.js';
import { SIGNINGS, type Signing } from './webhook-endpoint-key.entity.js';
import { MAX_DESCRIPTION_LENGTH, MAX_ENDPOINTS, MAX_URL_LENGTH } from './webhook-endpoint.entity.js';
import {
  WEBHOOK_ENDPOINT_ALREADY_EXISTS,
  WEBHOOK_ENDPOINT_KEY_ROTATING,
  WEBHOOK_ENDPOINT_LIMIT_REACHED,
  WEBHOOK_ENDPOINT_NOT_FOUND,
} from './webhook-endpoints-errors.js';

const notPublic = (field: string): string => `The ${field} field must be a public https URL.`;

/** Requires a URL that webhooks can be sent to, which depends on `WEBHOOK_TARGETS`. */
@Injectable()
@ValidatorConstraint({ name: 'isWebhookUrl' })
export class WebhookUrlConstraint implements ValidatorConstraintInterface {
  constructor(private readonly http: HttpClient) {}

  validate(url: string): boolean {
    return this.http.urlProblem(url) === undefined;
  }
}

const EXAMPLE_ID = 'c7d1a3b2-6a7e-4a4e-9a57-2f8f0d3b5c11';
const EXAMPLE_URL = 'https://hooks.example.com/merchants';
const EXAMPLE_DESCRIPTION = 'Card updates';

const ENVIRONMENT = 'The environment whose events are sent. Must match the environment of the access token.';

const URL_FIELD = {
  max: MAX_URL_LENGTH,
  format: 'uri',
  pattern: '^[Hh][Tt][Tt][Pp][Ss]://',
  description:
    'A public https URL with a host name: no IP address, no credentials; a port is allowed. The URL is stored and ' +
    'shown in the normal form of the URL Standard, without a fragment and without a dot after the host name: ' +
    '`https://EXAMPLE.com.:443#a` becomes `https://example.com/`. The limit counts characters as you send them.',
  example: EXAMPLE_URL,
};

const DESCRIPTION_FIELD = {
  required: false,
  min: 0,
  max: MAX_DESCRIPTION_LENGTH,
  description: `What you use the endpoint for, in at most ${MAX_DESCRIPTION_LENGTH} characters.`,
  example: EXAMPLE_DESCRIPTION,
};

const SETTABLE_STATUSES = ['enabled', 'paused'] as const;
export type SettableStatus = (typeof SETTABLE_STATUSES)[number];
const SETTABLE_STATUS = enumeration(
  'SettableWebhookEndpointStatus',
  SETTABLE_STATUSES,
  'The statuses that you can give a webhook endpoint.',
);
const STATUSES = [...SETTABLE_STATUSES, 'disabled'] as const;
type EndpointStatus = (typeof STATUSES)[number];
const STATUS = enumeration(
  'WebhookEndpointStatus',
  STATUSES,
  'Whether events are sent to a webhook endpoint. More may be added.',
);
const DISABLED_REASONS = ['failing'] as const;
const DISABLED_REASON = enumeration(
  'WebhookEndpointDisabledReason',
  DISABLED_REASONS,
  'Why the service has disabled a webhook endpoint. `failing`: all attempts failed for days. More may be added.',
);

const EXAMPLE_EVENTS = ['AUTHENTICATED', 'CARD_UPDATED'];
const EVENTS_FIELD = {
  required: false,
  schema: { type: 'array', items: EVENT_NAME.reference, minItems: 1 },
  description:
    'Names of the events to send to the endpoint. If absent, all events are sent, including those that are added later.',
  example: EXAMPLE_EVENTS,
} as const;
function validateEventName(name: unknown, field: string): string | undefined {
  const names: readonly unknown[] = EVENT_NAMES;
  return names.includes(name) ? undefined : MESSAGES.selected(field, EVENT_NAMES);
}

const EVENTS_VALIDATORS = [
  IsArray(withMessage(MESSAGES.array)),
  ArrayNotEmpty(withMessage(MESSAGES.required)),
  HasValidItems(validateEventName),
];

const SIGNING = enumeration(
  'WebhookEndpointSigning',
  SIGNINGS,
  'What makes the header `webhook-signature` of the deliveries to a webhook endpoint. `client`: the secret of the API client. ' +
    '`hmac`: a secret that only this endpoint has. `ed25519`: a private key that never leaves the service.',
  ['ClientSecret', 'Hmac', 'Ed25519'],
);
const EXAMPLE_SIGNING_KEY = 'whsec_x9Vb1Yk3n8mJrT5pQ2wL7cZ4dG6hF0sA1eR9uI3oK2M=';
const HEADERS_DESCRIPTION =
  `At most ${MAX_HEADERS} headers of your own, by name, such as the key of a gateway before your receiver. The service ` +
  'sends them with each delivery, stores their values encrypted, and never returns them.';
const OVERLAP =
  'Hours for which the previous key signs, too: each delivery has both signatures. 0 ends all earlier keys at once, after a leak.';

const STATUS_FIELD = { required: false, example: 'enabled' };

export class WebhookEndpointsQuery {
  @EnvironmentField({ in: 'query', description: ENVIRONMENT })
  environment!: PlatformEnvironment;
}

export class CreateWebhookEndpointRequest {
  @EnvironmentField({ description: ENVIRONMENT })
  environment!: PlatformEnvironment;

  @TextField(URL_FIELD, Validate(WebhookUrlConstraint, withMessage(notPublic)))
  url!: string;

  @TextField(DESCRIPTION_FIELD)
  description?: string;

  @Field(EVENTS_FIELD, ...EVENTS_VALIDATORS)
  events?: string[];

  @EnumField(SETTABLE_STATUS, {
    ...STATUS_FIELD,
    description:
      '`paused` creates the endpoint without sending anything to it: events wait until you change the status to `enabled`.',
    default: 'enabled',
  })
  status?: SettableStatus;

  @EnumField(SIGNING, {
    required: false,
    description:
      'The key that signs the deliveries, besides `Service-Signature`. With a key of its own, the receiver needs no credential of the API.',
    default: 'client',
    example: 'hmac',
  })
  signing?: Signing;

  @HeadersField(HEADERS_DESCRIPTION, 'values only')
  headers?: Record<string, string>;
}

export class RotateWebhookEndpointKeyRequest {
  @EnumField(SIGNING, {
    required: false,
    description:
      'The kind of the new key. The default is the kind of the current key. An endpoint with `client` has no key to rotate.',
    example: 'hmac',
  })
  signing?: Signing;

  @IntegerField({
    required: false,
    min: 0,
    max: MAX_OVERLAP_HOURS,
    default: DEFAULT_OVERLAP_HOURS,
    description: OVERLAP,
    example: DEFAULT_OVERLAP_HOURS,
  })
  overlap_hours: number = DEFAULT_OVERLAP_HOURS;
}

export class UpdateWebhookEndpointRequest {
  @TextField({ ...URL_FIELD, required: false }, Validate(WebhookUrlConstraint, withMessage(notPublic)))
  url?: string;

  @TextField({
    ...DESCRIPTION_FIELD,
    clearable: true,
    description: `${DESCRIPTION_FIELD.description} \`null\` or blank text removes it.`,
  })
  description?: string | null;

  @Field(
    {
      ...EVENTS_FIELD,
      clearable: true,
      description:
        'Names of the events to send to the endpoint. `null`: all events, including those that are added later. Applies to ' +
        'events that are published from now on.',
    },
    ...EVENTS_VALIDATORS,
  )
  events?: string[] | null;

  @EnumField(SETTABLE_STATUS, {
    ...STATUS_FIELD,
    description:
      '`paused`: events wait, and nothing is sent until you change the status to `enabled`. `enabled` also ends the ' +
      'status `disabled`.',
  })
  status?: SettableStatus;

  @EnumField(SIGNING, {
    required: false,
    description:
      `The key that signs the deliveries. A change makes a new key; the previous one also signs for ${DEFAULT_OVERLAP_HOURS} more hours. ` +
      'The present value changes nothing.',
    example: 'hmac',
  })
  signing?: Signing;

  @HeadersField(
    `${HEADERS_DESCRIPTION} Headers that you leave out keep their values, unless the host or port of the URL changes: a new receiver gets only headers from the same request. \`null\` removes a header, or all of them.`,
    'removal',
  )
  headers?: HeaderChanges | null;
}

@ApiSchema({ description: 'How deliveries to a webhook endpoint went recently.' })
export class WebhookEndpointHealth {
  @TimestampProperty('When the endpoint last responded with 200; null if it never did.', undefined, {
    nullable: true,
  })
  last_success_at!: Date | null;

  @IntegerProperty('Number of attempts that failed since the last success.', 0, { minimum: 0 })
  consecutive_failures!: number;

  @BooleanProperty(
    'Whether the endpoint gets one attempt per second, because 5 attempts in a row failed. The next success ends that.',
    false,
  )
  throttled!: boolean;

  @EnumProperty(
    DISABLED_REASON,
    'Why the service disabled the endpoint; null unless `status` is `disabled`.',
    null,
  )
  disabled_reason!: (typeof DISABLED_REASONS)[number] | null;
}

export class WebhookEndpointResponse {
  @UuidProperty('ID of the endpoint.', EXAMPLE_ID)
  id!: string;

  @TextProperty('The URL that webhooks are sent to, in the normal form of the URL Standard.', EXAMPLE_URL, {
    format: 'uri',
    // A character can become 12 in the normal form.
    maxLength: 12 * MAX_URL_LENGTH,
  })
  url!: string;

  @TextProperty('What you use the endpoint for; null if you did not describe it.', EXAMPLE_DESCRIPTION, {
    nullable: true,
    maxLength: MAX_DESCRIPTION_LENGTH,
  })
  description!: string | null;

  @EnumProperty(ENVIRONMENT_NAME, 'The environment whose events are sent.', 'production')
  environment!: PlatformEnvironment;

  @TimestampProperty('When the endpoint was created.')
  created_at!: Date;

  @EnumProperty(
    EVENT_NAME,
    'Names of the events that are sent to the endpoint; null for all events, including those that are added later.',
    EXAMPLE_EVENTS,
    { isArray: true, nullable: true },
  )
  events!: string[] | null;

  @EnumProperty(
    STATUS,
    '`enabled`: events are sent to the endpoint. `paused`: they wait until it is enabled, at most as long as the request ' +
      'log is kept. `disabled`: the service has disabled the endpoint because it kept failing. It gets no events until you ' +
      'enable it, and you can resend those that it missed.',
    'enabled',
  )
  status!: EndpointStatus;

  @ObjectProperty(WebhookEndpointHealth, 'How deliveries to the endpoint went recently.')
  health!: WebhookEndpointHealth;

  @EnumProperty(SIGNING, 'What makes the header `webhook-signature`. More may be added.', 'hmac')
  signing!: Signing;

  @TextProperty(
    'The key that verifies `webhook-signature`, if `signing` is `ed25519`; null otherwise. It is not secret.',
    null,
    { nullable: true },
  )
  public_key!: string | null;

  @TimestampProperty(
    'During a rotation, the time until which the previous key also signs; null if only the newest signs.',
    null,
    { nullable: true },
  )
  previous_key_expires_at!: Date | null;

  @TextProperty('Names of your own headers. Their values are not returned.', ['X-Api-Key'], { isArray: true })
  header_names!: string[];

  @TextProperty(
    'The secret of the new key. Only in the response that makes a key of the kind `hmac`: store it in your receiver.',
    EXAMPLE_SIGNING_KEY,
    { required: false },
  )
  signing_key?: string;
}

export class WebhookEndpointListResponse {
  @ObjectProperty([WebhookEndpointResponse], 'The endpoints, in the order in which they were created.')
  data!: WebhookEndpointResponse[];
}

export const ENDPOINT_ID_PARAMETER = {
  id: uuidParameter('WebhookEndpointIdParameter', 'The `id` of the endpoint.', EXAMPLE_ID),
};

export const LIST_ENDPOINTS: OperationDocument = {
  operationId: 'listWebhookEndpoints',
  summary: 'List webhook endpoints',
  description:
    `Returns the webhook endpoints of an environment, at most ${MAX_ENDPOINTS}, in the order in which they were ` +
    'created. Use it to see where events are sent, and to find the IDs that other operations require.',
  response: WebhookEndpointListResponse,
  responseDescription: 'All endpoints of the environment.',
  errors: [ENVIRONMENT_MISMATCH],
};

export const GET_ENDPOINT: OperationDocument = {
  operationId: 'getWebhookEndpoint',
  summary: 'Get a webhook endpoint',
  description: 'Returns one endpoint. Use it if you stored the ID of the endpoint.',
  pathParameters: ENDPOINT_ID_PARAMETER,
  response: WebhookEndpointResponse,
  responseDescription: 'The endpoint.',
  errors: [ENVIRONMENT_MISMATCH, WEBHOOK_ENDPOINT_NOT_FOUND],
};

export const CREATE_ENDPOINT: OperationDocument = {
  operationId: 'createWebhookEndpoint',
  place: 8,
  repeatable: 'with_idempotency_key',
  ifRepeated:
    'With an idempotency key, you get the endpoint again. Without one, 409 `WEBHOOK_ENDPOINT_ALREADY_EXISTS` ' +
    'means that the endpoint exists; `GET /webhook-endpoints` has its id.',
  summary: 'Create webhook endpoint',
  description:
    'Starts to send the events of the environment to this URL. Use it when a receiver is ready to respond. An ' +
    `environment can have at most ${MAX_ENDPOINTS} endpoints with different URLs.`,
  headerParameters: IDEMPOTENCY_KEY_PARAMETER,
  responseHeaders: IDEMPOTENCY_REPLAYED_HEADER,
  body: CreateWebhookEndpointRequest,
  response: WebhookEndpointResponse,
  responseDescription: 'The endpoint was created.',
  errors: [
    ENVIRONMENT_MISMATCH,
    WEBHOOK_ENDPOINT_ALREADY_EXISTS,
    WEBHOOK_ENDPOINT_LIMIT_REACHED,
    ...IDEMPOTENCY_ERRORS,
  ],
};

export const UPDATE_ENDPOINT: OperationDocument = {
  operationId: 'updateWebhookEndpoint',
  summary: 'Change a webhook endpoint',
  description:
    'Changes the fields that you send. Absent fields keep their values, and so do `url` and `status` if they are `null`. ' +
    'Use it when your receiver moves, to choose events, to pause and resume deliveries, and to enable an endpoint that ' +
    'the service has disabled. A new URL applies to all attempts from then on, also of events that wait for a retry, and the health starts again.',
  pathParameters: ENDPOINT_ID_PARAMETER,
  body: UpdateWebhookEndpointRequest,
  response: WebhookEndpointResponse,
  responseDescription: 'The updated endpoint.',
  errors: [
    ENVIRONMENT_MISMATCH,
    WEBHOOK_ENDPOINT_NOT_FOUND,
    WEBHOOK_ENDPOINT_ALREADY_EXISTS,
    WEBHOOK_ENDPOINT_KEY_ROTATING,
  ],
};

export const ROTATE_KEY: OperationDocument = {
  operationId: 'rotateWebhookEndpointKey',
  summary: 'Rotate the key of a webhook endpoint',
  repeatable: 'with_idempotency_key',
  ifRepeated:
    'With an idempotency key, you get the same key again. Without one, 409 `WEBHOOK_ENDPOINT_KEY_ROTATING` means that the key was ' +
    'rotated and the previous one still signs; an overlap of 0 hours makes another key.',
  description:
    'Makes a new key, and lets the previous one sign, too, until the overlap ends. Add the new key to your receiver during the ' +
    'overlap. Use it regularly, after a leak, and to change what signs the deliveries.',
  pathParameters: ENDPOINT_ID_PARAMETER,
  headerParameters: IDEMPOTENCY_KEY_PARAMETER,
  responseHeaders: IDEMPOTENCY_REPLAYED_HEADER,
  body: RotateWebhookEndpointKeyRequest,
  response: WebhookEndpointResponse,
  responseDescription: 'The endpoint, with the new key.',
  errors: [
    ENVIRONMENT_MISMATCH,
    WEBHOOK_ENDPOINT_NOT_FOUND,
    WEBHOOK_ENDPOINT_KEY_ROTATING,
    ...IDEMPOTENCY_ERRORS,
  ],
};

export const DELETE_ENDPOINT: OperationDocument = {
  operationId: 'deleteWebhookEndpoint',
  summary: 'Delete a webhook endpoint',
  description:
    'Deletes an endpoint and its pending deliveries. Use it when you no longer operate the receiver.',
  pathParameters: ENDPOINT_ID_PARAMETER,
  response: WebhookEndpointResponse,
  responseDescription: 'The deleted endpoint.',
  errors: [ENVIRONMENT_MISMATCH, WEBHOOK_ENDPOINT_NOT_FOUND],
};
