import { IsInt, Max, Min } from 'class-validator';
import { Configuration, EnvironmentVariable } from '../../infrastructure/config/index.js';

@Configuration('MCP tokens')
export class McpTokensConfiguration {
  @EnvironmentVariable(
    'MCP_TOKEN_REQUESTS_PER_MINUTE',
    'Requests per minute and client; 600 is what the API promises.',
  )
  @IsInt()
  @Min(1)
  @Max(100_000_000)
  requestsPerMinute: number = 600;
}
