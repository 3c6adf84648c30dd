import { Body, Controller, Param, Post } from '@nestjs/common';
import { Origin, type RequestOrigin } from '../../../infrastructure/http/index.js';
import { Topic } from '../../../infrastructure/openapi/index.js';
import { AgentForm, OAuthOperation, type FormParameters } from '../../oauth/index.js';
import { AgentAuthorizationConfiguration } from '../agent-authorization.configuration.js';
import { AGENT_GRANTS } from './agent-grants.js';
import type { AgentTokensResponse } from './agent-grants.dto.js';
import { AgentOAuthService } from './agent-oauth.service.js';
import {
  EXCHANGE_FOR_AGENT_TOKENS,
  REGISTER_AGENT,
  REVOKE_AGENT_TOKEN,
  RevokeAgentTokenRequest,
  type AgentTokenRevocationResponse,
  type RegisteredAgentResponse,
} from './tokens.dto.js';

@Topic('Agents that log in')
@Controller('connections/:client_id')
export class AgentOAuthController {
  constructor(private readonly oauth: AgentOAuthService) {}

  @Post('token')
  @OAuthOperation(EXCHANGE_FOR_AGENT_TOKENS, { surface: 'connector', grants: AGENT_GRANTS })
  exchange(
    @Param('client_id') clientId: string,
    @AgentForm() form: FormParameters,
    @Origin() origin: RequestOrigin,
  ): Promise<AgentTokensResponse> {
    return this.oauth.exchange(clientId, form, origin);
  }

  @Post('revoke')
  @OAuthOperation(REVOKE_AGENT_TOKEN, { surface: 'connector' })
  revoke(
    @Param('client_id') clientId: string,
    @AgentForm() request: RevokeAgentTokenRequest,
    @Origin() origin: RequestOrigin,
  ): Promise<AgentTokenRevocationResponse> {
    return this.oauth.revoke(clientId, request, origin);
  }

  @Post('register')
  @OAuthOperation(REGISTER_AGENT, {
    surface: 'connector',
    body: 'json',
    limit: {
      name: 'agent-registrations',
      requests: (configuration) => configuration.get(AgentAuthorizationConfiguration).registrationsPerHour,
      per: 'issuer',
      seconds: 3_600,
    },
  })
  register(@Param('client_id') clientId: string, @Body() metadata: object): Promise<RegisteredAgentResponse> {
    return this.oauth.register(clientId, metadata);
  }
}
