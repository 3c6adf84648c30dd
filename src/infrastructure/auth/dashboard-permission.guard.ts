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
  type DashboardRole,
  type Scope,
} from './dashboard-actor.js';
import { CROSS_SITE_REQUEST } from './dashboard-auth.guard.js';
import { AccessibleClients, AuditRecorder, type AuditedAction, type DeniedTarget } from './ports.js';

/** The permission that an operation of the dashboard API requires. */
export interface DashboardPermission {
  /**
   * The scope that an access token requires. `any` accepts all access tokens. `refused` rejects all access tokens, so the
   * operation requires a dashboard login; it is for operations that programs must not perform with a user's token.
   */
  readonly token: Scope | 'any' | 'refused';
  /** The minimum role. If absent, all roles are allowed. */
  readonly role?: DashboardRole;
  /** Whether the login must be recent: see `RECENT_LOGIN_MAX_AGE`. */
  readonly recentLogin?: boolean;
  /** The audited action, so that denied attempts are recorded too. */
  readonly action?: AuditedAction;
}

export const LOGIN_REQUIRED = 'This operation does not accept access tokens: log in to the dashboard.';
export const RECENT_LOGIN_MAX_AGE = 5 * MINUTE;
export const RECENT_LOGIN_REQUIRED = `Log in again: this operation requires a login within the last ${RECENT_LOGIN_MAX_AGE / MINUTE} minutes.`;

/** UUIDs, and the numbers of merchants. */
const ID = /^(?:[\da-f-]{36}|\d{1,16})$/i;

const PERMISSION = 'dashboard permission';
/** Declares the permission that `DashboardPermissionGuard` checks: the one that the function returns for each request. */
export const RequirePermission = (permission: () => DashboardPermission): MethodDecorator =>
  SetMetadata(PERMISSION, permission);

const permissions = new Map<string, DashboardPermission>();

/** Declares the permission that an operation of the dashboard API requires, so that its pages can require it too. */
export function declarePermission(operationId: string, permission: DashboardPermission): void {
  permissions.set(operationId, permission);
}

/** Returns the permission that an operation of the dashboard API requires. Call it only after all modules are loaded. */
export function permissionOf(operationId: string): DashboardPermission {
  const permission = permissions.get(operationId);
  if (!permission) throw new Error(`The dashboard API has no operation ${operationId}.`);
  return permission;
}

/** Returns whether the role of a user allows an operation of the dashboard API. */
export function mayPerform(user: DashboardPrincipal, operationId: string): boolean {
  return checkRole(user, permissionOf(operationId)) === undefined;
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
    const permission = this.reflector.get<() => DashboardPermission>(PERMISSION, context.getHandler())();
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
    return INVALID_ACCESS_TOKEN.error(RECENT_LOGIN_REQUIRED, {
      headers: { 'WWW-Authenticate': challenge },
    });
  }
}

/** Returns whether the user logged in within `RECENT_LOGIN_MAX_AGE`. */
export function isRecentLogin({ credential }: DashboardActor, now: Date): boolean {
  if (credential.kind !== 'session') return false;
  return now.getTime() - credential.authenticatedAt.getTime() <= RECENT_LOGIN_MAX_AGE;
}

function checkScope({ credential }: DashboardActor, { token }: DashboardPermission): ApiError | undefined {
  if (credential.kind === 'session' || token === 'any') return undefined;
  if (token === 'refused') {
    return INSUFFICIENT_SCOPE.error(LOGIN_REQUIRED);
  }
  if (credential.scopes.has(token)) return undefined;
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
