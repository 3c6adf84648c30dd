import { Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { ENVIRONMENTS, ServiceConfiguration } from '../config/index.js';
import { NO_ACCESS, NOT_FOUND, type ApiError } from '../errors/index.js';
import { environmentOf, isFromOtherSite } from '../http/index.js';
import { Clock, CLOCK_TOLERANCE, SECOND } from '../time/index.js';
import { missingScope } from './access.guards.js';
import { INSUFFICIENT_ROLE, INSUFFICIENT_SCOPE, INVALID_ACCESS_TOKEN } from './auth-errors.js';
import { ACCESS_TOKEN } from './bearer-token.js';
import { dashboardActorOf, type DashboardActor } from './dashboard-actor.js';
import { CROSS_SITE_REQUEST } from './dashboard-auth.guard.js';
import { LOGIN_AGE, type DashboardPermission } from './dashboard-permissions.js';
import { DASHBOARD_ROLES } from './dashboard-roles.js';
import { AccessibleClients, AuditRecorder, type DeniedTarget } from './ports.js';
import type { DashboardIdentity, DashboardPrincipal } from './principals.js';

export const RECENT_LOGIN_REQUIRED = 'Log in again: this operation requires a more recent login.';

/** UUIDs, and the numbers of merchants. */
const ID = /^(?:[\da-f-]{36}|\d{1,16})$/i;

const PERMISSION = 'dashboard permission';
/** Declares the permission that `DashboardPermissionGuard` checks. */
export const RequirePermission = (permission: DashboardPermission): MethodDecorator =>
  SetMetadata(PERMISSION, permission);

/** Returns whether the role of a user allows an operation of the dashboard. */
export function mayPerform(user: DashboardPrincipal, permission: DashboardPermission): boolean {
  return checkRole(user, permission) === undefined;
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
    const permission = this.reflector.get<DashboardPermission>(PERMISSION, context.getHandler());
    const request = context.switchToHttp().getRequest<Request>();
    const shown = environmentOf(request.path);
    // As if the page did not exist on this host.
    if (shown && !this.configuration.environments.includes(shown)) throw NOT_FOUND.error();
    const actor = dashboardActorOf(request);
    // This applies to GET, too: another site must not write audit log entries in the user's name. A denial would be such an entry.
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
      (actor.credential.kind === 'session' ? undefined : actor.credential.environment);
    return { name, ...(environment && { environment }) };
  }

  private check(actor: DashboardActor, permission: DashboardPermission): ApiError | undefined {
    return (
      checkScope(actor, permission) ??
      checkRole(actor, permission) ??
      this.checkRecentLogin(actor, permission)
    );
  }

  /** RFC 9470, section 3: the user has to authenticate again. */
  private checkRecentLogin(
    actor: DashboardActor,
    { recentLogin }: DashboardPermission,
  ): ApiError | undefined {
    if (recentLogin === undefined || isRecentLogin(actor, this.clock.now(), recentLogin)) return undefined;
    const challenge = `${ACCESS_TOKEN.challenge}, error="insufficient_user_authentication", max_age=${recentLogin / SECOND}`;
    return INVALID_ACCESS_TOKEN.error(RECENT_LOGIN_REQUIRED, { headers: { 'WWW-Authenticate': challenge } });
  }
}

/** Returns whether the user logged in within this time, in milliseconds. A clock that was ahead proves nothing about a login. */
export function isRecentLogin(
  { credential }: DashboardIdentity,
  now: Date,
  within: number = LOGIN_AGE.sensitive,
): boolean {
  if (credential.kind !== 'session') return false;
  const age = now.getTime() - credential.authenticatedAt.getTime();
  return age >= -CLOCK_TOLERANCE && age <= within;
}

function checkScope({ credential }: DashboardActor, { token }: DashboardPermission): ApiError | undefined {
  if (credential.kind === 'session' || token === 'any') return undefined;
  if (token !== undefined && credential.scopes.has(token)) return undefined;
  if (token === undefined) throw new Error('Pages accept no access tokens');
  return INSUFFICIENT_SCOPE.error(
    missingScope(token, credential.kind === 'key' ? undefined : 'access token'),
    {
      headers: {
        'WWW-Authenticate': `${ACCESS_TOKEN.challenge}, error="insufficient_scope", scope="${token}"`,
      },
    },
  );
}

function checkRole(actor: DashboardPrincipal, { role }: DashboardPermission): ApiError | undefined {
  // DASHBOARD_ROLES is ordered from highest to lowest.
  const allowed =
    role === undefined ? DASHBOARD_ROLES : DASHBOARD_ROLES.slice(0, DASHBOARD_ROLES.indexOf(role) + 1);
  if (allowed.includes(actor.role)) return undefined;
  return INSUFFICIENT_ROLE.error();
}
