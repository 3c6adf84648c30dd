import type { DashboardIdentity } from './dashboard-actor.js';

/** Port: says whose access token this is. */
export abstract class AccessTokenVerifier {
  /** @returns undefined when the token is malformed, expired, revoked, of another audience or of a user who left */
  abstract verify(token: string): Promise<DashboardIdentity | undefined>;
}
