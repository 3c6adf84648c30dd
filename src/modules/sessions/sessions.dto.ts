import { IsUUID } from 'class-validator';
import { TOO_MANY_REQUESTS } from '../../infrastructure/errors/index.js';
import { ACCEPTS_IDEMPOTENCY_KEY, IDEMPOTENCY_ERRORS } from '../../infrastructure/idempotency/index.js';
import {
  TimestampProperty,
  UuidProperty,
  withExamples,
  type OperationDocument,
} from '../../infrastructure/openapi/index.js';
import { MINUTE } from '../../infrastructure/time/index.js';
import {
  EmailField,
  EnumField,
  ExternalUserIdField,
  MESSAGES,
  PhoneNumberField,
  TextField,
  withMessage,
} from '../../infrastructure/validation/index.js';
import {
  MetadataField,
  SESSION_TYPE,
  type SessionMetadata,
  type SessionType,
} from '../../infrastructure/event-catalog/index.js';
import { SessionsConfiguration } from './sessions.configuration.js';
import { EXTEND_NOT_SUPPORTED, SESSION_NOT_FOUND } from './sessions-errors.js';

const CARD_ID_LENGTH = 256;

const METADATA = 'Your own values, echoed as `data.metadata` in every webhook of the session.';

const EXAMPLE_SESSION = 'b1c3d8a4-3f5e-4d55-8a69-6f2f9a7c0e21';

/** `min: 0` leaves `minLength` out of the API document, because the format already says more. */
function SessionIdField(): PropertyDecorator {
  return TextField(
    { min: 0, format: 'uuid', description: 'ID of the session.', example: EXAMPLE_SESSION },
    IsUUID('loose', withMessage(MESSAGES.uuid)),
  );
}

export class CreateSessionRequest {
  @EnumField(SESSION_TYPE, { description: 'The purpose of the session.', example: 'card_switcher' })
  type!: SessionType;

  @ExternalUserIdField()
  external_user_id!: string;

  @TextField({
    required: { when: 'type', is: 'card_switcher' },
    min: 0,
    max: CARD_ID_LENGTH,
    description: 'Your own identifier for the card. Required for `card_switcher`.',
    example: 'card-81',
  })
  card_id?: string;

  @EmailField({ required: false, description: 'Email address of the user.', example: 'ada@example.com' })
  email?: string;

  @PhoneNumberField({
    required: false,
    countries: 'US and Canada',
    description: 'Phone number of the user in E.164; a valid US or Canadian number.',
    example: '+12125550123',
  })
  phone_number?: string;

  @MetadataField(`${METADATA} The SDK can add to the metadata when it opens the session.`)
  metadata?: SessionMetadata;
}

export class ExtendSessionRequest {
  @SessionIdField()
  session_id!: string;
}

export class OpenSessionRequest {
  @SessionIdField()
  session_id!: string;

  @MetadataField(
    `${METADATA} Merged with the metadata of the session: these values override those with the same key, and the ` +
      'limits apply to the result.',
  )
  metadata?: SessionMetadata;
}

export class SessionResponse {
  /** The specification names the ID `session`. */
  @UuidProperty('ID of the session.', EXAMPLE_SESSION)
  session!: string;
}

export class OpenedSessionResponse extends SessionResponse {
  @TimestampProperty('When the session expires.', '2026-01-31T08:45:30.123Z')
  expires_at!: Date;
}

/** How long a session is valid, and by how much an extension prolongs it (specification, "Sessions"). */
export const SESSION_LIFETIME = 30 * MINUTE;

const MINUTES = SESSION_LIFETIME / MINUTE;

export const CREATE_SESSION: OperationDocument = {
  operationId: 'createSession',
  repeatable: 'always',
  ifRepeated:
    'You get another session. The session of the lost response expires after 30 minutes. With an idempotency key, ' +
    'you get the same session.',
  summary: 'Create session',
  description:
    `Creates a session for one of your users. It is valid for ${MINUTES} minutes. Call this operation from your ` +
    'backend when a user is about to link a merchant or switch a card, and pass the ID of the session to the client ' +
    'SDK. Every webhook of the session returns the metadata that you attach.',
  ...ACCEPTS_IDEMPOTENCY_KEY,
  body: CreateSessionRequest,
  response: SessionResponse,
  responseDescription: 'The session was created.',
  errors: IDEMPOTENCY_ERRORS,
};

export const EXTEND_SESSION: OperationDocument = {
  operationId: 'extendSession',
  repeatable: 'with_idempotency_key',
  ifRepeated: 'Each request adds 30 minutes. With an idempotency key, only the first one does.',
  summary: 'Extend session',
  description:
    `Adds ${MINUTES} minutes to the expiry of a session that has not expired. Call this operation while the user is still ` +
    'in the SDK and the session is about to expire. After it has expired, create a new session.',
  ...ACCEPTS_IDEMPOTENCY_KEY,
  body: ExtendSessionRequest,
  response: OpenedSessionResponse,
  responseDescription: 'The session with its new expiry.',
  errors: [EXTEND_NOT_SUPPORTED, SESSION_NOT_FOUND, ...IDEMPOTENCY_ERRORS],
};

export const OPEN_SESSION: OperationDocument = {
  operationId: 'openSession',
  repeatable: 'always',
  ifRepeated: 'The same metadata is merged again, which changes nothing.',
  summary: 'Open session',
  description: (configurationOf) =>
    'Opens a session from the client SDK. The only credential is the ID of a session that has not expired. The ' +
    'request can add metadata: values given here override those with the same key, and the limits apply to all ' +
    'metadata of the session together. The request appears in your request logs. Limit: ' +
    `${configurationOf(SessionsConfiguration).opensPerMinute} requests per minute per IP address.`,
  body: OpenSessionRequest,
  response: OpenedSessionResponse,
  responseDescription: 'The session is open.',
  errors: [
    withExamples(SESSION_NOT_FOUND, SESSION_NOT_FOUND.message, EXTEND_NOT_SUPPORTED.message),
    TOO_MANY_REQUESTS,
  ],
};
