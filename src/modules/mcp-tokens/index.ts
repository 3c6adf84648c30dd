export { McpTokenOperationsModule, McpTokensModule } from './mcp-tokens.module.js';
export { McpTokensService, type LiveMcpToken } from './mcp-tokens.service.js';
