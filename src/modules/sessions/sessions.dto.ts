import { IsUUID } from 'class-validator';
import { TimestampProperty, UuidProperty } from '../../infrastructure/openapi/index.js';
import {
  EmailField,
  EnumField,
  ExternalUserIdField,
  MESSAGES,
  PhoneNumberField,
  TextField,
  withMessage,
} from '../../infrastructure/validation/index.js';
import { MetadataField, SESSION_TYPE, type SessionMetadata, type SessionType } from '../webhooks/index.js';

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
