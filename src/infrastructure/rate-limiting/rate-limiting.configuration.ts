import { IsInt, Max, Min } from 'class-validator';
import { Configuration, EnvironmentVariable } from '../config/index.js';

@Configuration('Rate limits')
export class RateLimitingConfiguration {
  @EnvironmentVariable('DASHBOARD_REQUESTS_PER_MINUTE', 'Requests to the dashboard API per minute and user.')
  @IsInt()
  @Min(1)
  @Max(100_000_000)
  dashboardRequestsPerMinute: number = 600;
}
