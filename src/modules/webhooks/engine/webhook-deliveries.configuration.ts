import { IsInt, Matches, Max, Min } from 'class-validator';
import { Configuration, EnvironmentVariable } from '../../../infrastructure/config/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';

@Configuration('Webhook deliveries')
export class WebhookDeliveriesConfiguration {
  @EnvironmentVariable('WEBHOOK_CONCURRENCY', 'Attempts that one process has under way at once.')
  @IsInt()
  @Min(2)
  @Max(10_000)
  concurrency: number = 256;

  @EnvironmentVariable(
    'WEBHOOK_ENDPOINT_CONCURRENCY',
    'Attempts to one endpoint at once, by all processes together.',
  )
  @IsInt()
  @Min(1)
  @Max(100)
  endpointConcurrency: number = 4;

  @EnvironmentVariable(
    'WEBHOOK_RETRY_SECONDS',
    'Seconds from a failed attempt to the next one, one number for each retry. The API promises two, a few minutes apart.',
  )
  @Matches(/^\d{1,5}(?:,\d{1,5})*$/, {
    message: 'retrySeconds must be whole numbers with commas between them',
  })
  retrySeconds: string = '180,300';

  /** Milliseconds. */
  get retryDelays(): number[] {
    return this.retrySeconds.split(',').map((seconds) => Number(seconds) * SECOND);
  }
}
