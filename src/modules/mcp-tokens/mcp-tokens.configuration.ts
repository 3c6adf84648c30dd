import { Configuration, EnvironmentVariable, IsIntegerBetween } from '../../infrastructure/config/index.js';

/** Seconds from the creation of a token until it expires. */
export const MIN_LIFETIME = 60;
export const DEFAULT_LIFETIME = 86_400;
export const MAX_LIFETIME = 2_592_000;

@Configuration('MCP tokens')
export class McpTokensConfiguration {
  @EnvironmentVariable(
    'MCP_TOKEN_REQUESTS_PER_MINUTE',
    'Maximum number of requests per minute from one client to create an MCP token. Do not set it below 600, the limit that clients are guaranteed.',
  )
  @IsIntegerBetween(1, 100_000_000)
  requestsPerMinute: number = 600;
}
