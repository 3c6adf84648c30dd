import type { Request } from 'express';
import type { PlatformEnvironment } from '../config/index.js';
import { ENVIRONMENT_MISMATCH } from '../errors/index.js';
import { requestOrigin, requestParameter, type RequestOrigin } from '../http/index.js';
import type { DashboardIdentity } from './principals.js';

/** The user of a dashboard request and its origin: the actor and context of an audit log entry. */
export interface DashboardActor extends DashboardIdentity {
  readonly origin: RequestOrigin;
}

/** A dashboard user, and the environment that the user looks at. */
export interface DashboardScope {
  readonly actor: DashboardActor;
  readonly environment: PlatformEnvironment;
}

/** Returns the user of the request. Call it only on routes that `DashboardAuthGuard` protects. */
export function dashboardActorOf(request: Request): DashboardActor {
  return { ...(request.user as DashboardIdentity), origin: requestOrigin(request) };
}

/** Handler parameter: the dashboard user of the request. */
export const CurrentActor = requestParameter(dashboardActorOf);

/**
 * Checks that an access token or API key is used in the environment of its client (specification, "Authentication"). A login
 * works for both environments.
 *
 * @throws ApiError ENVIRONMENT_MISMATCH
 */
export function requireEnvironment(actor: DashboardIdentity, environment: PlatformEnvironment): void {
  const { credential } = actor;
  if (credential.kind !== 'session' && credential.environment !== environment)
    throw ENVIRONMENT_MISMATCH.error();
}
