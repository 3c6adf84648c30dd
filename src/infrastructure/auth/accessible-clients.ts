import type { PlatformEnvironment } from '../config/index.js';
import type { AttributedClient } from '../http/index.js';
import type { DashboardIdentity } from './dashboard-actor.js';

/** `environment` names one that this host does not serve. */
export const INVALID_ENVIRONMENT_MESSAGE = 'The selected environment is invalid.';

/** Port: the API clients that a dashboard user may look at the things of. */
export abstract class AccessibleClients {
  /**
   * The client of the caller's organization in an environment.
   *
   * @throws ApiError ENVIRONMENT_MISMATCH when the caller's access token is for the other environment
   * @throws ApiError INVALID_FIELD when this host does not serve the environment
   */
  abstract in(actor: DashboardIdentity, environment: PlatformEnvironment): Promise<AttributedClient>;

  /** Of an access token its own client, of a login all of the organization. */
  abstract all(actor: DashboardIdentity): Promise<AttributedClient[]>;
}
