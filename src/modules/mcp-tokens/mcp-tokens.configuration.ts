import { Configuration, EnvironmentVariable, IsIntegerBetween } from '../../infrastructure/config/index.js';

@Configuration('MCP tokens')
export class McpTokensConfiguration {
  @EnvironmentVariable(
    'MCP_TOKEN_REQUESTS_PER_MINUTE',
    'Maximum number of requests per minute from one client to create an MCP token. The API promises 600.',
  )
  @IsIntegerBetween(1, 100_000_000)
  requestsPerMinute: number = 600;
}
