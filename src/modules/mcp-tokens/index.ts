export { McpTokensModule } from './mcp-tokens.module.js';
