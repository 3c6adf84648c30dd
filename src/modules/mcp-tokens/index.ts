export { McpTokensModule } from './mcp-tokens.module.js';
export { RevokedTokens, type RevokedMcpToken } from './revoked-tokens.js';
export { StoredMcpTokenVerifier } from './stored-mcp-token-verifier.js';
export { McpTokensService, type ActiveMcpToken } from './mcp-tokens.service.js';
export { DAYS_AFTER_EXPIRY } from './mcp-tokens.repository.js';
