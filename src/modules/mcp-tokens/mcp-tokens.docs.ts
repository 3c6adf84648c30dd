import {
  IDEMPOTENCY_ERRORS,
  IDEMPOTENCY_KEY_PARAMETER,
  IDEMPOTENCY_REPLAYED_HEADER,
} from '../../infrastructure/idempotency/index.js';
import type { OperationDocument } from '../../infrastructure/openapi/index.js';
import { McpTokensConfiguration } from './mcp-tokens.configuration.js';
import { CreateMcpTokenRequest, McpTokenResponse } from './mcp-tokens.dto.js';

export const CREATE_MCP_TOKEN: OperationDocument = {
  operationId: 'createMcpToken',
  summary: 'Create MCP token',
  description: (configurationOf) =>
    'Creates a short-lived token that connects an agent to the agent connector, an MCP server at `/mcp`, on behalf of ' +
    'one of your users: see `/docs/agent-connector`. Call this operation from your backend at the start of each agent ' +
    'session and pass the token to the agent. The token is returned only once. Limit: ' +
    `${configurationOf(McpTokensConfiguration).requestsPerMinute} requests per minute per client, including ` +
    'authenticated requests that fail.',
  headerParameters: IDEMPOTENCY_KEY_PARAMETER,
  responseHeaders: IDEMPOTENCY_REPLAYED_HEADER,
  body: CreateMcpTokenRequest,
  response: McpTokenResponse,
  responseDescription: 'The token was created.',
  errors: IDEMPOTENCY_ERRORS,
};
