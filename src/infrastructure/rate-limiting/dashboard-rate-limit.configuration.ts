import { Configuration, EnvironmentVariable, IsIntegerBetween } from '../config/index.js';

@Configuration('Rate limits')
export class DashboardRateLimitConfiguration {
  @EnvironmentVariable(
    'DASHBOARD_REQUESTS_PER_MINUTE',
    'Maximum number of requests per minute from one user to the dashboard API.',
  )
  @IsIntegerBetween(1, 100_000_000)
  dashboardRequestsPerMinute: number = 600;
}
