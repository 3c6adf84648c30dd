import { Body, Controller, Post } from '@nestjs/common';
import { CurrentClient, type AuthenticatedClient } from '../../infrastructure/auth/index.js';
import {
  Idempotent,
  IdempotentRequests,
  type IdempotentRequest,
} from '../../infrastructure/idempotency/index.js';
import { Topic } from '../../infrastructure/openapi/index.js';
import { perMinute } from '../../infrastructure/rate-limiting/index.js';
import { PlatformOperation } from '../../infrastructure/surfaces/index.js';
import { CREATE_MCP_TOKEN, CreateMcpTokenRequest, McpTokenResponse } from './mcp-tokens.dto.js';
import { McpTokensConfiguration } from './mcp-tokens.configuration.js';
import { McpTokensService } from './mcp-tokens.service.js';

@Topic(
  'MCP tokens',
  'Tokens that connect an agent to the agent connector (`POST /mcp`) on behalf of one of your users.',
)
@Controller('mcp/tokens')
export class McpTokensController {
  constructor(
    private readonly mcpTokens: McpTokensService,
    private readonly idempotentRequests: IdempotentRequests,
  ) {}

  @Post('create')
  @PlatformOperation(CREATE_MCP_TOKEN, 'mcp_tokens:write', {
    limit: perMinute('mcp-tokens', 'client', McpTokensConfiguration, 'requestsPerMinute'),
  })
  create(
    @CurrentClient() client: AuthenticatedClient,
    @Body() request: CreateMcpTokenRequest,
    @Idempotent() idempotent?: IdempotentRequest,
  ): Promise<McpTokenResponse> {
    return this.idempotentRequests.once(idempotent, () => this.mcpTokens.create(client, request), {
      externalUserId: request.external_user_id,
      tokenIn: ({ token }) => token,
    });
  }
}
