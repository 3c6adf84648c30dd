import type { PlatformEnvironment } from '../config/index.js';
import type { AttributedClient } from '../http/index.js';
import type { DashboardIdentity } from './dashboard-actor.js';

/** Port: the API clients whose data a dashboard user may access. */
export abstract class AccessibleClients {
  /**
   * Returns the client of the user's organization in an environment.
   *
   * @throws ApiError ENVIRONMENT_MISMATCH when the access token is for the other environment
   * @throws ApiError INVALID_FIELD when this host does not serve the environment
   */
  abstract forEnvironment(
    actor: DashboardIdentity,
    environment: PlatformEnvironment,
  ): Promise<AttributedClient>;

  /** Returns the client of the access token, or all clients of the organization for a login. */
  abstract all(actor: DashboardIdentity): Promise<AttributedClient[]>;
}
