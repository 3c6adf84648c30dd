export { McpTokensModule } from './mcp-tokens.module.js';
export {
  McpTokenRevocationListener,
  McpTokensService,
  type EndedConnections,
  type McpTokenData,
  type RevokedMcpToken,
} from './mcp-tokens.service.js';
export { McpTokenVerifier } from './mcp-token-verifier.js';
export { McpTokensBatch, type NewAgentToken } from './mcp-tokens.batch.js';
export {
  AgentConnectionStates,
  DAYS_KEPT_AFTER_EXPIRY,
  McpTokensRepository,
  type UserMcpToken,
} from './mcp-tokens.repository.js';
