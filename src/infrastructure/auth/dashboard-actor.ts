import type { Request } from 'express';
import type { PlatformEnvironment } from '../config/index.js';
import { ENVIRONMENT_MISMATCH } from '../errors/index.js';
import { requestOrigin, requestParameter, type RequestOrigin } from '../http/index.js';
import { enumeration } from '../schemas/index.js';
import type { AuthenticatedClient, AuthenticatedKey } from './principals.js';
import type { Scope } from './scopes.js';

/** The roles of dashboard users, from the most rights to the fewest. */
export const DASHBOARD_ROLES = ['owner', 'admin', 'member', 'viewer'] as const;
export type DashboardRole = (typeof DASHBOARD_ROLES)[number];
export const ROLE = enumeration(
  'Role',
  DASHBOARD_ROLES,
  'The role of a dashboard user. The first has the most rights.',
);

export interface DashboardPrincipal {
  readonly userId: string;
  readonly organizationId: string;
  readonly organizationName: string;
  readonly name: string;
  readonly email: string;
  /** The user's own role, or the role of an access grant that is in force. */
  readonly role: DashboardRole;
  /** Access tokens and device approvals of an earlier version have ended. */
  readonly accessVersion: number;
  /** Whether the organization requires a second factor that the user has not set up. */
  readonly lacksSecondFactor: boolean;
  /** From when the organization requires a second factor; null if it does not, or if the user has one. */
  readonly secondFactorDue: Date | null;
}

/** An access token of the device authorization flow. */
interface TokenCredential {
  readonly kind: 'token';
  readonly tokenId: string;
  readonly clientId: string;
  readonly environment: PlatformEnvironment;
  readonly scopes: ReadonlySet<Scope>;
}

/** An API key, or an access token that was issued for one. No user has logged in: the key acts for itself, as a member. */
interface KeyCredential extends AuthenticatedClient {
  readonly kind: 'key';
  readonly key: AuthenticatedKey;
  readonly scopes: ReadonlySet<Scope>;
}

export interface DashboardIdentity extends DashboardPrincipal {
  readonly credential:
    | { readonly kind: 'session'; readonly sessionId: string; readonly authenticatedAt: Date }
    | TokenCredential
    | KeyCredential;
}

export type RequestingOrganization = AuthenticatedClient | DashboardIdentity;

/** Returns whether the actor is a dashboard user, as opposed to an API client. */
export function isDashboardUser(requester: RequestingOrganization): requester is DashboardIdentity {
  return 'credential' in requester;
}

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
