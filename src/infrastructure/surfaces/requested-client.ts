import { isDashboardUser, type AccessibleClients, type RequestingOrganization } from '../auth/index.js';
import type { PlatformEnvironment } from '../config/index.js';
import { ENVIRONMENT_MISMATCH, INVALID_FIELD } from '../errors/index.js';
import type { AttributedClient } from '../http/index.js';
import { withMessages, withSharedMessages } from '../openapi/index.js';
import { MESSAGES } from '../validation/index.js';

const OTHER_ENVIRONMENT = 'The environment must be that of the client.';

/** Errors of operations that use `requestedClient()`. */
export const ENVIRONMENT_ERRORS = [
  withMessages(INVALID_FIELD, MESSAGES.required('environment')),
  withSharedMessages('OtherEnvironment', ENVIRONMENT_MISMATCH, OTHER_ENVIRONMENT),
];

/**
 * Returns the client whose data a `SharedOperation` reads.
 *
 * @param environment may be absent for an API client, which belongs to one environment
 * @throws ApiError ENVIRONMENT_MISMATCH if the client or access token belongs to the other environment
 * @throws ApiError INVALID_FIELD if a dashboard user names no environment, or like `AccessibleClients.forEnvironment()`
 */
export async function requestedClient(
  clients: AccessibleClients,
  requester: RequestingOrganization,
  environment?: PlatformEnvironment,
): Promise<AttributedClient> {
  if (isDashboardUser(requester)) {
    if (environment === undefined) throw INVALID_FIELD.error(MESSAGES.required('environment'));
    return clients.forEnvironment(requester, environment);
  }
  if (environment !== undefined && environment !== requester.environment)
    throw ENVIRONMENT_MISMATCH.error(OTHER_ENVIRONMENT);
  return requester;
}
