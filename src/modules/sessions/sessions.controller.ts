import { Controller, Post } from '@nestjs/common';
import { CurrentClient, type AuthenticatedClient } from '../../infrastructure/auth/index.js';
import { INVALID_FIELD, TOO_MANY_REQUESTS } from '../../infrastructure/errors/index.js';
import { Attribution, JsonBody, type RequestAttribution } from '../../infrastructure/http/index.js';
import { withMessages, Topic } from '../../infrastructure/openapi/index.js';
import { PlatformOperation, SdkOperation } from '../../infrastructure/surfaces/index.js';
import { EXTEND_NOT_SUPPORTED, SESSION_NOT_FOUND } from './session-errors.js';
import { SessionOpenRateLimitGuard } from './session-open-rate-limit.guard.js';
import {
  CreateSessionRequest,
  EXAMPLE_SESSION,
  ExtendSessionRequest,
  OpenSessionResponse,
  OpenSessionRequest,
  SessionResponse,
} from './sessions.dto.js';
import { SessionsService } from './sessions.service.js';

const WRONG_METADATA = [
  'The metadata field must be an object.',
  'The metadata field must not have more than 10 keys.',
  'The metadata.order field must be a string.',
  'The metadata.order field must not be greater than 500 characters.',
];
const WRONG_SESSION_ID = ['The session id field is required.', 'The session id field must be a UUID.'];
const EXAMPLE_OPEN_SESSION = { session: EXAMPLE_SESSION, expires_at: '2026-01-31T08:45:30.123Z' };

@Topic('Sessions', 'What a user does in the client SDK, with your metadata.')
@Controller('session')
export class SessionsController {
  constructor(private readonly sessions: SessionsService) {}

  @Post('create')
  @PlatformOperation({
    operationId: 'createSession',
    summary: 'Create session',
    description:
      'Creates a session for one of your users, valid for 30 minutes. Call it from your backend when a user ' +
      'is about to link a merchant or move a card. Hand its id to the client SDK. Metadata that you attach ' +
      'comes back in every webhook of the session.',
    body: CreateSessionRequest,
    response: SessionResponse,
    responseDescription: 'The session was created.',
    responseExample: { session: EXAMPLE_SESSION },
    errors: [
      withMessages(
        INVALID_FIELD,
        'The selected type is invalid.',
        'The external user id field is required.',
        'The card id field is required when the type is card_switcher.',
        'The email field must be a valid email address.',
        'The phone number format is invalid.',
        'The phone number must be a valid number in a supported country.',
        ...WRONG_METADATA,
      ),
    ],
  })
  create(
    @CurrentClient() client: AuthenticatedClient,
    @JsonBody() request: CreateSessionRequest,
    @Attribution() attribution: RequestAttribution,
  ): Promise<SessionResponse> {
    return this.sessions.create(client, request, attribution);
  }

  @Post('extend')
  @PlatformOperation({
    operationId: 'extendSession',
    summary: 'Extend session',
    description:
      'Adds 30 minutes to the time that the session has left. Call it while the user is still in the SDK ' +
      'and the session is about to expire. One that has expired cannot be extended: create another.',
    body: ExtendSessionRequest,
    response: OpenSessionResponse,
    responseDescription: 'The session, and when it expires now.',
    responseExample: EXAMPLE_OPEN_SESSION,
    errors: [withMessages(INVALID_FIELD, ...WRONG_SESSION_ID), EXTEND_NOT_SUPPORTED, SESSION_NOT_FOUND],
  })
  extend(
    @CurrentClient() client: AuthenticatedClient,
    @JsonBody() request: ExtendSessionRequest,
    @Attribution() attribution: RequestAttribution,
  ): Promise<OpenSessionResponse> {
    return this.sessions.extend(client, request.session_id, attribution);
  }

  @Post('open')
  @SdkOperation({
    operationId: 'openSession',
    summary: 'Open session',
    description:
      'For the client SDK: needs no credentials but the id of a session that has not expired, and may add ' +
      'metadata. Of equal keys the values given here win; the limits hold for all metadata of the session ' +
      'together. The call is in your request logs. Limit: 600 requests a minute from one address.',
    body: OpenSessionRequest,
    response: OpenSessionResponse,
    responseDescription: 'The session is open.',
    responseExample: EXAMPLE_OPEN_SESSION,
    guards: [SessionOpenRateLimitGuard],
    errors: [
      withMessages(INVALID_FIELD, ...WRONG_SESSION_ID, ...WRONG_METADATA),
      SESSION_NOT_FOUND,
      TOO_MANY_REQUESTS,
    ],
  })
  open(
    @JsonBody() request: OpenSessionRequest,
    @Attribution() attribution: RequestAttribution,
  ): Promise<OpenSessionResponse> {
    return this.sessions.open(request, attribution);
  }
}
