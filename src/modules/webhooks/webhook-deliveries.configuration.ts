import { Matches } from 'class-validator';
import { Configuration, EnvironmentVariable, IsIntegerBetween } from '../../infrastructure/config/index.js';
import { SECOND } from '../../infrastructure/time/index.js';
import { DEFAULT_RETRY_SECONDS } from './delivery.js';

@Configuration('Webhook deliveries')
export class WebhookDeliveriesConfiguration {
  @EnvironmentVariable(
    'WEBHOOK_CONCURRENCY',
    'Maximum number of concurrent delivery attempts of one process.',
  )
  @IsIntegerBetween(2, 10_000)
  concurrency: number = 256;

  @EnvironmentVariable(
    'WEBHOOK_ENDPOINT_CONCURRENCY',
    'Maximum number of concurrent delivery attempts to one endpoint, over all processes. The service starts with 4 and adapts the number to what the endpoint can take.',
  )
  @IsIntegerBetween(1, 100)
  endpointConcurrency: number = 100;

  @EnvironmentVariable(
    'WEBHOOK_RETRY_SECONDS',
    'Seconds before each retry of a failed delivery, separated by commas. The API promises two retries, a few minutes apart.',
  )
  @Matches(/^\d{1,5}(?:,\d{1,5})*$/, { message: 'retrySeconds must be whole numbers separated by commas' })
  retrySeconds: string = DEFAULT_RETRY_SECONDS;

  @EnvironmentVariable(
    'WEBHOOK_DISABLE_AFTER_DAYS',
    'Days after which an endpoint is disabled if all attempts have failed. Owners and admins get an email on the second day and when the endpoint is disabled. `0`: never.',
  )
  @IsIntegerBetween(0, 365)
  disableAfterDays: number = 5;

  /** Attempts that a delivery gets: the first one and its retries. */
  get attemptsAllowed(): number {
    return 1 + this.retryDelays.length;
  }

  /** Milliseconds. */
  get retryDelays(): number[] {
    return this.retrySeconds.split(',').map((seconds) => Number(seconds) * SECOND);
  }
}
