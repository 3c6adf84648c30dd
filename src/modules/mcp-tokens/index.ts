export { McpTokensModule } from './mcp-tokens.module.js';
export { McpTokensService, type ActiveMcpToken } from './mcp-tokens.service.js';
