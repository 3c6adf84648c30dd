import type { DashboardIdentity } from './dashboard-actor.js';

/** Port: says whose login in a browser this is. */
export abstract class DashboardSessionVerifier {
  /**
   * @param token the value of the session's cookie
   * @returns undefined when there is no such login, or no longer, or its second factor is still missing
   */
  abstract verify(token: string): Promise<DashboardIdentity | undefined>;
}
