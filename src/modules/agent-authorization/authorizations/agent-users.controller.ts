import { Body, Controller, Param, Post } from '@nestjs/common';
import { CurrentClient, type AuthenticatedClient } from '../../../infrastructure/auth/index.js';
import { Topic } from '../../../infrastructure/openapi/index.js';
import { PlatformOperation } from '../../../infrastructure/surfaces/index.js';
import { AgentAuthorizationsService } from './agent-authorizations.service.js';
import {
  AgentUserRequest,
  COMPLETE_AUTHORIZATION,
  CREATE_CONNECTION_CODE,
  type CompletedAuthorizationResponse,
  type ConnectionCodeResponse,
} from './authorizations.dto.js';

/** Operations by which an API client tells which of its users connects an agent. */
@Topic('Agent connections')
@Controller('mcp')
export class AgentUsersController {
  constructor(private readonly authorizations: AgentAuthorizationsService) {}

  @Post('authorizations/:authorization_id/complete')
  @PlatformOperation(COMPLETE_AUTHORIZATION)
  complete(
    @CurrentClient() client: AuthenticatedClient,
    @Param('authorization_id') id: string,
    @Body() user: AgentUserRequest,
  ): Promise<CompletedAuthorizationResponse> {
    return this.authorizations.complete(client, id, user);
  }

  @Post('connection-codes')
  @PlatformOperation(CREATE_CONNECTION_CODE)
  createCode(
    @CurrentClient() client: AuthenticatedClient,
    @Body() user: AgentUserRequest,
  ): Promise<ConnectionCodeResponse> {
    return this.authorizations.createCode(client, user);
  }
}
