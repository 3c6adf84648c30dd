export { McpTokensModule } from './mcp-tokens.module.js';
export {
  McpTokenRevocationListener,
  McpTokensService,
  type ActiveMcpToken,
  type RevokedMcpToken,
} from './mcp-tokens.service.js';
export {
  DAYS_KEPT_AFTER_EXPIRY,
  McpTokensRepository,
  type NewConnectionToken,
} from './mcp-tokens.repository.js';
