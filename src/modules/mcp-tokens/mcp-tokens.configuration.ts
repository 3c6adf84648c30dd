import { Configuration, EnvironmentVariable, IsIntegerBetween } from '../../infrastructure/config/index.js';

@Configuration('MCP tokens')
export class McpTokensConfiguration {
  @EnvironmentVariable(
    'MCP_TOKEN_REQUESTS_PER_MINUTE',
    'Maximum number of requests per minute from one client to create an MCP token. Do not set it below 600, the limit that clients are guaranteed.',
  )
  @IsIntegerBetween(1, 100000000)
  requestsPerMinute: number = 600;
}
