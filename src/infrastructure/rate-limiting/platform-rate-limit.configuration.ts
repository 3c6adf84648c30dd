import { Configuration, EnvironmentVariable, IsIntegerBetween } from '../config/index.js';

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
    'Maximum number of requests per minute with wrong Basic credentials from one IP address for one client. Requests with the right credentials are never refused.',
  )
  @IsIntegerBetween(1, 100_000_000)
  failuresPerClient: number = 30;

  @EnvironmentVariable(
    'FAILED_CREDENTIALS_PER_MINUTE_AND_ADDRESS',
    'Maximum number of requests per minute with wrong credentials from one IP address: Basic credentials of all clients, MCP tokens and service tokens together. Requests with the right credentials are never refused.',
  )
  @IsIntegerBetween(1, 100_000_000)
  failuresPerAddress: number = 600;
}
