import { Controller, Post } from '@nestjs/common';
import { CurrentClient, type AuthenticatedClient } from '../../infrastructure/auth/index.js';
import { INVALID_FIELD } from '../../infrastructure/errors/index.js';
import { JsonBody } from '../../infrastructure/http/index.js';
import { withMessages, Topic } from '../../infrastructure/openapi/index.js';
import { PlatformOperation } from '../../infrastructure/surfaces/index.js';
import { McpTokensConfiguration } from './mcp-tokens.configuration.js';
import { CreateMcpTokenRequest, EXAMPLE_TOKEN, McpTokenResponse } from './mcp-tokens.dto.js';
import { McpTokensService } from './mcp-tokens.service.js';

@Topic('MCP tokens', 'Connect an agent to the agent connector, for one of your users.')
@Controller('mcp/tokens')
export class McpTokensController {
  constructor(private readonly mcpTokens: McpTokensService) {}

  @Post('create')
  @PlatformOperation({
    operationId: 'createMcpToken',
    summary: 'Create MCP token',
    description:
      'Creates a short-lived token that connects an agent to the agent connector (MCP) for one of your ' +
      'users. Call it from your backend whenever an agent session starts and hand the token to the agent; ' +
      'it cannot be shown again. Limit: 600 requests per minute and client, every authenticated request ' +
      'counted.',
    body: CreateMcpTokenRequest,
    response: McpTokenResponse,
    responseDescription: 'The token was created.',
    responseExample: {
      token: EXAMPLE_TOKEN,
      expires_at: '2026-01-31T08:15:30.123Z',
    },
    limit: {
      name: 'mcp-tokens',
      requests: (configuration) => configuration.get(McpTokensConfiguration).requestsPerMinute,
      per: 'client',
      seconds: 60,
    },
    errors: [
      withMessages(
        INVALID_FIELD,
        'The external user id field is required.',
        'The expires in field must not be greater than 2592000.',
        'The phone number format is invalid.',
        'The phone number must be a valid number in a supported country.',
      ),
    ],
  })
  create(
    @CurrentClient() client: AuthenticatedClient,
    @JsonBody() request: CreateMcpTokenRequest,
  ): Promise<McpTokenResponse> {
    return this.mcpTokens.create(client, request);
  }
}
