import { Configuration, EnvironmentVariable, IsIntegerBetween } from '../config/index.js';

/** Messages for each tool call: clients without sessions repeat the handshake and `tools/list`. */
const MESSAGES_PER_TOOL_CALL = 5;
/** How many agents of a user can reach their limit at the same time. */
const AGENTS_OF_USER = 2;

@Configuration('Agent connector')
export class ConnectorRateLimitConfiguration {
  @EnvironmentVariable(
    'MCP_TOOL_CALLS_PER_MINUTE',
    'Maximum number of tool calls per minute with one MCP token, or of one agent that a user has connected. All agents of a user together may send twice as many. The limit for messages of any kind, tool calls included, is five times as high.',
  )
  @IsIntegerBetween(1, 100_000_000)
  toolCallsPerMinute: number = 120;

  get toolCallsPerMinuteAndUser(): number {
    return this.toolCallsPerMinute * AGENTS_OF_USER;
  }

  get messagesPerMinute(): number {
    return this.toolCallsPerMinute * MESSAGES_PER_TOOL_CALL;
  }
}

@Configuration('Rate limits')
export class DashboardRateLimitConfiguration {
  @EnvironmentVariable(
    'DASHBOARD_REQUESTS_PER_MINUTE',
    'Maximum number of requests per minute from one user to the dashboard API.',
  )
  @IsIntegerBetween(1, 100_000_000)
  dashboardRequestsPerMinute: number = 600;
}

@Configuration('Rate limits of the platform API')
export class PlatformRateLimitConfiguration {
  @EnvironmentVariable(
    'PLATFORM_REQUESTS_PER_MINUTE',
    'Maximum number of requests per minute from one client to the platform API. Operations with a limit of their own are not counted.',
  )
  @IsIntegerBetween(1, 100_000_000)
  requestsPerMinute: number = 6_000;

  @EnvironmentVariable(
    'FAILED_CREDENTIALS_PER_MINUTE',
    'Maximum number of requests per minute with wrong Basic credentials, or API keys that are refused, from one IP address for one client. Requests with the right credentials are never refused.',
  )
  @IsIntegerBetween(1, 100_000_000)
  failuresPerClient: number = 30;

  @EnvironmentVariable(
    'FAILED_CREDENTIALS_PER_MINUTE_AND_ADDRESS',
    'Maximum number of requests per minute with wrong credentials from one IP address: Basic credentials and API keys of all clients, access tokens, MCP tokens and service tokens together. Requests with the right credentials are never refused.',
  )
  @IsIntegerBetween(1, 100_000_000)
  failuresPerAddress: number = 600;
}
