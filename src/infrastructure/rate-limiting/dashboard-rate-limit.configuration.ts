import { Configuration, EnvironmentVariable, IsIntegerBetween } from '../config/index.js';

@Configuration('Rate limits')
export class DashboardRateLimitConfiguration {
  @EnvironmentVariable('DASHBOARD_REQUESTS_PER_MINUTE', 'Requests to the dashboard API per minute and user.')
  @IsIntegerBetween(1, 100_000_000)
  dashboardRequestsPerMinute: number = 600;
}
