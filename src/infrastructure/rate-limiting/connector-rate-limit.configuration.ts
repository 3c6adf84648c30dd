import { Configuration, EnvironmentVariable, IsIntegerBetween } from '../config/index.js';

/** Messages for each tool call: clients without sessions repeat the handshake and `tools/list`. */
const MESSAGES_PER_TOOL_CALL = 5;

@Configuration('Agent connector')
export class ConnectorRateLimitConfiguration {
  @EnvironmentVariable(
    'MCP_TOOL_CALLS_PER_MINUTE',
    'Maximum number of tool calls per minute with one MCP token. The limit for messages of any kind, tool calls included, is five times as high.',
  )
  @IsIntegerBetween(1, 100_000_000)
  toolCallsPerMinute: number = 120;

  get messagesPerMinute(): number {
    return this.toolCallsPerMinute * MESSAGES_PER_TOOL_CALL;
  }
}
