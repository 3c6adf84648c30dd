import type { ConfigurationOf } from '../openapi/index.js';
import { DashboardRateLimitConfiguration, PlatformRateLimitConfiguration } from '../rate-limiting/index.js';

/** Returns a sentence about the limits of the operations that have no limit of their own, for the API document. */
export function describeLimits(configurationOf: ConfigurationOf): string {
  const { requestsPerMinute } = configurationOf(PlatformRateLimitConfiguration);
  const { dashboardRequestsPerMinute } = configurationOf(DashboardRateLimitConfiguration);
  return (
    `The platform API accepts ${requestsPerMinute} requests per minute per client, and the dashboard API ` +
    `${dashboardRequestsPerMinute} per minute per user, across all operations.`
  );
}
