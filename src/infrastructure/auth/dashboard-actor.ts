import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { PlatformEnvironment } from '../config/index.js';
import { ENVIRONMENT_MISMATCH } from '../errors/index.js';
import { requestOrigin, type RequestOrigin } from '../http/index.js';

/** The roles of dashboard users, from all rights to the fewest. */
export const DASHBOARD_ROLES = ['owner', 'admin', 'member'] as const;
export type DashboardRole = (typeof DASHBOARD_ROLES)[number];

/** What an access token may be issued for. */
export const SCOPES = ['request_logs:read', 'webhook_endpoints:read', 'webhook_endpoints:write'] as const;
export type Scope = (typeof SCOPES)[number];

/** A dashboard user as of this moment. */
export interface DashboardPrincipal {
  readonly userId: string;
  readonly organizationId: string;
  readonly name: string;
  readonly email: string;
  /** The user's own role, or that of a privileged access grant while one is in force. */
  readonly role: DashboardRole;
}

/** A login in a browser. */
interface SessionCredential {
  readonly kind: 'session';
  readonly sessionId: string;
  /** When the user last proved who they are. */
  readonly authenticatedAt: Date;
}

/** An access token of the device authorization flow. */
interface TokenCredential {
  readonly kind: 'token';
  readonly tokenId: string;
  readonly clientId: string;
  readonly environment: PlatformEnvironment;
  readonly scopes: ReadonlySet<Scope>;
}

/** A dashboard user and how we know that it is them. */
export interface DashboardIdentity extends DashboardPrincipal {
  readonly credential: SessionCredential | TokenCredential;
}

/** Who calls the dashboard API, and from where: the actor and context of an audit log entry. */
export interface DashboardActor extends DashboardIdentity {
  readonly origin: RequestOrigin;
}

/** Who is calling; only behind `DashboardAuthGuard`. */
export function dashboardActorOf(request: Request): DashboardActor {
  return { ...(request.user as DashboardIdentity), origin: requestOrigin(request) };
}

/** The handler's parameter that holds the dashboard user who calls. */
export const CurrentActor = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  dashboardActorOf(context.switchToHttp().getRequest<Request>()),
);

/**
 * An access token works only for the environment of the client that it was issued for (specification,
 * "Authentication"); a login in the dashboard works for both.
 *
 * @throws ApiError ENVIRONMENT_MISMATCH
 */
export function requireEnvironment(actor: DashboardIdentity, environment: PlatformEnvironment): void {
  const { credential } = actor;
  if (credential.kind === 'token' && credential.environment !== environment)
    throw ENVIRONMENT_MISMATCH.error();
}
