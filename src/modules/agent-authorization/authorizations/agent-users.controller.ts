import { Body, Controller, Param, Post } from '@nestjs/common';
import { CurrentClient, type AuthenticatedClient } from '../../../infrastructure/auth/index.js';
import {
  Idempotent,
  IdempotentRequests,
  type IdempotentRequest,
} from '../../../infrastructure/idempotency/index.js';
import { Topic } from '../../../infrastructure/openapi/index.js';
import { PlatformOperation } from '../../../infrastructure/surfaces/index.js';
import { AgentAuthorizationsService } from './agent-authorizations.service.js';
import { IdentificationsService } from './identifications.service.js';
import {
  AgentUserRequest,
  COMPLETE_AUTHORIZATION,
  CREATE_CONNECTION_CODE,
  type CompletedAuthorizationResponse,
  type ConnectionCodeResponse,
} from './authorizations.dto.js';

/** Operations with which an API client says which of its users has logged in. */
@Topic('Agent connections')
@Controller('mcp')
export class AgentUsersController {
  constructor(
    private readonly authorizations: AgentAuthorizationsService,
    private readonly identifications: IdentificationsService,
    private readonly idempotentRequests: IdempotentRequests,
  ) {}

  @Post('authorizations/:authorization_id/complete')
  @PlatformOperation(COMPLETE_AUTHORIZATION, 'users:identify')
  complete(
    @CurrentClient() client: AuthenticatedClient,
    @Param('authorization_id') id: string,
    @Body() user: AgentUserRequest,
    @Idempotent() idempotent?: IdempotentRequest,
  ): Promise<CompletedAuthorizationResponse> {
    return this.idempotentRequests.once(idempotent, () => this.identifications.complete(client, id, user), {
      externalUserId: user.external_user_id,
    });
  }

  @Post('connection-codes')
  @PlatformOperation(CREATE_CONNECTION_CODE, 'agents:write')
  createCode(
    @CurrentClient() client: AuthenticatedClient,
    @Body() user: AgentUserRequest,
    @Idempotent() idempotent?: IdempotentRequest,
  ): Promise<ConnectionCodeResponse> {
    return this.idempotentRequests.once(idempotent, () => this.authorizations.createCode(client, user), {
      externalUserId: user.external_user_id,
    });
  }
}
