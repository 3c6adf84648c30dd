export { McpTokensModule } from './mcp-tokens.module.js';
export {
  McpTokensService,
  RevokedTokens,
  type ActiveMcpToken,
  type RevokedMcpToken,
} from './mcp-tokens.service.js';
export { DAYS_AFTER_EXPIRY } from './mcp-tokens.repository.js';
