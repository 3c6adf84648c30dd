import { Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { ENVIRONMENTS, ServiceConfiguration } from '../config/index.js';
import {
  INSUFFICIENT_ROLE,
  INSUFFICIENT_SCOPE,
  INVALID_ACCESS_TOKEN,
  NO_ACCESS,
  NOT_FOUND,
  type ApiError,
} from '../errors/index.js';
import { environmentOf, isFromOtherSite } from '../http/index.js';
import { Clock, MINUTE, SECOND } from '../time/index.js';
import { ACCESS_TOKEN } from './bearer-token.js';
import {
  dashboardActorOf,
  DASHBOARD_ROLES,
  type DashboardActor,
  type DashboardPrincipal,
} from './dashboard-actor.js';
import { CROSS_SITE_REQUEST } from './dashboard-auth.guard.js';
import {
  permissionOf,
  type AuditedPermission,
  type DashboardOperationName,
  type DashboardPermission,
} from './dashboard-operations.js';
import { AccessibleClients, AuditRecorder, type DeniedTarget } from './ports.js';

const RECENT_LOGIN_MAX_AGE = 5 * MINUTE;
export const RECENT_LOGIN_REQUIRED = `Log in again: this operation requires a login within the last ${RECENT_LOGIN_MAX_AGE / MINUTE} minutes.`;

/** UUIDs, and the numbers of merchants. */
const ID = /^(?:[\da-f-]{36}|\d{1,16})$/i;

const PERMISSION = 'dashboard permission';
/** Declares the permission that `DashboardPermissionGuard` checks. */
export const RequirePermission = (permission: DashboardPermission): MethodDecorator =>
  SetMetadata(PERMISSION, permission);

/** Returns whether the role of a user allows an operation of the dashboard. */
export function mayPerform(user: DashboardPrincipal, operation: DashboardOperationName): boolean {
  return checkRole(user, permissionOf(operation)) === undefined;
}

/** Denies requests without the operation's permission. Runs after `DashboardAuthGuard`. */
@Injectable()
export class DashboardPermissionGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly audit: AuditRecorder,
    private readonly clients: AccessibleClients,
    private readonly configuration: ServiceConfiguration,
    private readonly clock: Clock,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const permission = this.reflector.get<AuditedPermission>(PERMISSION, context.getHandler());
    const request = context.switchToHttp().getRequest<Request>();
    const shown = environmentOf(request.path);
    // As if the page did not exist on this host.
    if (shown && !this.configuration.environments.includes(shown)) throw NOT_FOUND.error();
    const actor = dashboardActorOf(request);
    // Also for GET: another site must not write audit log entries in the user's name. A denial would be such an entry.
    if (permission.action && actor.credential.kind === 'session' && isFromOtherSite(request))
      throw NO_ACCESS.error(CROSS_SITE_REQUEST);
    const denial = this.check(actor, permission);
    if (!denial) return true;
    if (permission.action)
      await this.audit.recordDenial(actor, permission.action, await this.targetOf(request, actor));
    throw denial;
  }

  private async targetOf({ params, path, query }: Request, actor: DashboardActor): Promise<DeniedTarget> {
    const id = params['client_id'] ?? params['id'];
    const name = typeof id === 'string' && ID.test(id) ? id : null;
    const environment =
      ENVIRONMENTS.find((each) => each === query['environment']) ??
      environmentOf(path) ??
      (await this.clients.all(actor)).find(({ clientId }) => clientId === name)?.environment ??
      (actor.credential.kind === 'token' ? actor.credential.environment : undefined);
    return { name, ...(environment && { environment }) };
  }

  private check(actor: DashboardActor, permission: DashboardPermission): ApiError | undefined {
    return (
      checkScope(actor, permission) ??
      checkRole(actor, permission) ??
      (permission.recentLogin ? this.checkRecentLogin(actor) : undefined)
    );
  }

  /** RFC 9470, section 3: the user has to authenticate again. */
  private checkRecentLogin(actor: DashboardActor): ApiError | undefined {
    if (isRecentLogin(actor, this.clock.now())) return undefined;
    const challenge = `${ACCESS_TOKEN.challenge}, error="insufficient_user_authentication", max_age=${RECENT_LOGIN_MAX_AGE / SECOND}`;
    return INVALID_ACCESS_TOKEN.error(RECENT_LOGIN_REQUIRED, { headers: { 'WWW-Authenticate': challenge } });
  }
}

/** Returns whether the user logged in within `RECENT_LOGIN_MAX_AGE`. */
export function isRecentLogin({ credential }: DashboardActor, now: Date): boolean {
  if (credential.kind !== 'session') return false;
  return now.getTime() - credential.authenticatedAt.getTime() <= RECENT_LOGIN_MAX_AGE;
}

function checkScope({ credential }: DashboardActor, { token }: DashboardPermission): ApiError | undefined {
  if (credential.kind === 'session' || token === 'any') return undefined;
  if (token !== undefined && credential.scopes.has(token)) return undefined;
  return INSUFFICIENT_SCOPE.error(`The access token lacks the scope ${token}.`, {
    headers: {
      'WWW-Authenticate': `${ACCESS_TOKEN.challenge}, error="insufficient_scope", scope="${token}"`,
    },
  });
}

function checkRole(actor: DashboardPrincipal, { role }: DashboardPermission): ApiError | undefined {
  // DASHBOARD_ROLES is ordered from highest to lowest.
  const allowed =
    role === undefined ? DASHBOARD_ROLES : DASHBOARD_ROLES.slice(0, DASHBOARD_ROLES.indexOf(role) + 1);
  if (allowed.includes(actor.role)) return undefined;
  return INSUFFICIENT_ROLE.error();
}
