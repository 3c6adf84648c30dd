import { Configuration, EnvironmentVariable, IsIntegerBetween } from '../config/index.js';

@Configuration('Agent connector')
export class ConnectorRateLimitConfiguration {
  @EnvironmentVariable(
    'MCP_TOOL_CALLS_PER_MINUTE',
    'Maximum number of tool calls per minute with one MCP token.',
  )
  @IsIntegerBetween(1, 100_000_000)
  toolCallsPerMinute: number = 120;
}
