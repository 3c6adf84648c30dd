import { Body, Controller, Post } from '@nestjs/common';
import { CurrentClient, type AuthenticatedClient } from '../../infrastructure/auth/index.js';
import { Attribution, type RequestAttribution } from '../../infrastructure/http/index.js';
import {
  Idempotent,
  IdempotentRequests,
  type IdempotentRequest,
} from '../../infrastructure/idempotency/index.js';
import { Topic } from '../../infrastructure/openapi/index.js';
import { perMinute } from '../../infrastructure/rate-limiting/index.js';
import { PlatformOperation, SdkOperation } from '../../infrastructure/surfaces/index.js';
import {
  CREATE_SESSION,
  CreateSessionRequest,
  EXTEND_SESSION,
  ExtendSessionRequest,
  OPEN_SESSION,
  OpenedSessionResponse,
  OpenSessionRequest,
  SessionResponse,
} from './sessions.dto.js';
import { SessionsConfiguration } from './sessions.configuration.js';
import { SessionsService } from './sessions.service.js';

@Topic('Sessions', 'A user’s use of the client SDK, with your metadata.', 30)
@Controller('session')
export class SessionsController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly idempotentRequests: IdempotentRequests,
  ) {}

  @Post('create')
  @PlatformOperation(CREATE_SESSION, 'sessions:write')
  create(
    @CurrentClient() client: AuthenticatedClient,
    @Body() request: CreateSessionRequest,
    @Attribution() attribution: RequestAttribution,
    @Idempotent() idempotent?: IdempotentRequest,
  ): Promise<SessionResponse> {
    return this.idempotentRequests.once(
      idempotent,
      () => this.sessions.create(client, request, attribution),
      {
        externalUserId: request.external_user_id,
      },
    );
  }

  @Post('extend')
  @PlatformOperation(EXTEND_SESSION, 'sessions:write')
  extend(
    @CurrentClient() client: AuthenticatedClient,
    @Body() request: ExtendSessionRequest,
    @Attribution() attribution: RequestAttribution,
    @Idempotent() idempotent?: IdempotentRequest,
  ): Promise<OpenedSessionResponse> {
    return this.sessions.extend(client, request.session_id, attribution, idempotent);
  }

  @Post('open')
  @SdkOperation(OPEN_SESSION, {
    limit: perMinute('session-opens', 'address', SessionsConfiguration, 'opensPerMinute'),
  })
  open(
    @Body() request: OpenSessionRequest,
    @Attribution() attribution: RequestAttribution,
  ): Promise<OpenedSessionResponse> {
    return this.sessions.open(request, attribution);
  }
}
