import { ApiProperty } from '@nestjs/swagger';
import {
  ExternalUserId,
  Field,
  isEmailAddress,
  isOneOf,
  isString,
  isUuid,
  maximumCharacters,
  NorthAmericanPhoneNumber,
} from '../../infrastructure/validation/index.js';
import { Metadata, type SessionMetadata } from './session-metadata.js';
import { SESSION_TYPES, type SessionType } from './session-types.js';

const CARD_ID_LENGTH = 256;
/** RFC 5321, section 4.5.3.1.3: a path of 256 with its two brackets. */
const EMAIL_LENGTH = 254;

export const EXAMPLE_SESSION = 'b1c3d8a4-3f5e-4d55-8a69-6f2f9a7c0e21';

function SessionId(): PropertyDecorator {
  return Field({
    rules: [isString, isUuid],
    document: { type: String, format: 'uuid', description: 'The session.', example: EXAMPLE_SESSION },
  });
}

export class CreateSessionRequest {
  @Field({
    rules: [isOneOf(SESSION_TYPES)],
    document: {
      enum: [...SESSION_TYPES],
      description: 'What the session is for.',
      example: 'card_switcher',
    },
  })
  type!: SessionType;

  @ExternalUserId()
  external_user_id!: string;

  @Field({
    required: { when: 'type', is: 'card_switcher' },
    rules: [isString, maximumCharacters(CARD_ID_LENGTH)],
    document: {
      type: String,
      maxLength: CARD_ID_LENGTH,
      description: 'Your own identifier for the card; required for `card_switcher`.',
      example: 'card-81',
    },
  })
  card_id?: string;

  @Field({
    required: false,
    rules: [isString, maximumCharacters(EMAIL_LENGTH), isEmailAddress],
    document: {
      type: String,
      format: 'email',
      maxLength: EMAIL_LENGTH,
      description: 'The user’s e-mail address.',
      example: 'ada@example.com',
    },
  })
  email?: string;

  @NorthAmericanPhoneNumber('The user’s.')
  phone_number?: string;

  @Metadata('The SDK may add to it when it opens the session.')
  metadata?: SessionMetadata;
}

export class ExtendSessionRequest {
  @SessionId()
  session_id!: string;
}

export class OpenSessionRequest {
  @SessionId()
  session_id!: string;

  @Metadata(
    'Merged with what the session has: of equal keys these values win, and the limits hold for the whole.',
  )
  metadata?: SessionMetadata;
}

export class SessionResponse {
  @ApiProperty({ type: String, format: 'uuid', description: 'Names the session.', example: EXAMPLE_SESSION })
  session!: string;
}

export class LivingSessionResponse extends SessionResponse {
  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'When the session expires.',
    example: '2026-01-31T08:45:30.123Z',
  })
  expires_at!: Date;
}
