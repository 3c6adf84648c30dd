import { Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import {
  INSUFFICIENT_ROLE,
  INSUFFICIENT_SCOPE,
  INVALID_ACCESS_TOKEN,
  type ApiError,
} from '../errors/index.js';
import { Clock, MINUTE, SECOND } from '../time/index.js';
import {
  dashboardActorOf,
  DASHBOARD_ROLES,
  type DashboardActor,
  type DashboardRole,
  type Scope,
} from './dashboard-actor.js';
import { BEARER_CHALLENGE } from './dashboard-auth.guard.js';

/** An action of the audit log's catalogue. Made by `auditAction` of the audit-logs module, which knows them. */
export interface AuditedAction {
  readonly action: string;
}

/** Port: keeps that somebody tried an audited action that they may not do. */
export abstract class DenialRecorder {
  abstract recordDenial(actor: DashboardActor, action: AuditedAction): Promise<void>;
}

/** What an operation of the dashboard API asks of its caller, besides being known. */
export interface DashboardPermission {
  /**
   * The scope that an access token needs; `any` token; or `none` will do: what a person does in the
   * dashboard is nothing for a program to do with the person's token.
   */
  readonly token: Scope | 'any' | 'none';
  /** The least role that may. Every role when it is left out. */
  readonly role?: DashboardRole;
  /** Whether the login must not be older than 5 minutes. */
  readonly recentLogin?: boolean;
  /** What the audit log calls the action, so that refused attempts are recorded too. */
  readonly action?: AuditedAction;
}

/** Said to whoever presents an access token where a person has to be logged in. */
export const LOGIN_REQUIRED = 'This operation does not accept access tokens: log in to the dashboard.';
/** Said where a fresh login is asked for. */
export const RECENT_LOGIN_REQUIRED =
  'Log in again: this operation requires a login within the last 5 minutes.';

/** How old a login may be where a fresh one is asked for. */
const RECENT_LOGIN_MAX_AGE = 5 * MINUTE;

const PERMISSION = 'dashboard permission';
/** Tells `DashboardPermissionGuard` what the operation asks for. */
export const RequirePermission = (permission: DashboardPermission): MethodDecorator =>
  SetMetadata(PERMISSION, permission);

/** Lets in whom the operation is for; behind `DashboardAuthGuard`. */
@Injectable()
export class DashboardPermissionGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly refusals: DenialRecorder,
    private readonly clock: Clock,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const permission = this.reflector.get<DashboardPermission>(PERMISSION, context.getHandler());
    const caller = dashboardActorOf(context.switchToHttp().getRequest<Request>());
    const refusal = this.refusal(caller, permission);
    if (!refusal) return true;
    if (permission.action) await this.refusals.recordDenial(caller, permission.action);
    throw refusal;
  }

  private refusal(actor: DashboardActor, permission: DashboardPermission): ApiError | undefined {
    return (
      checkScope(actor, permission) ??
      checkRole(actor, permission) ??
      (permission.recentLogin ? this.staleness(actor) : undefined)
    );
  }

  /** RFC 9470, section 3: the user has to authenticate once more. */
  private staleness({ credential }: DashboardActor): ApiError | undefined {
    const isFresh =
      credential.kind === 'session' &&
      this.clock.milliseconds() - credential.authenticatedAt.getTime() <= RECENT_LOGIN_MAX_AGE;
    if (isFresh) return undefined;
    const challenge = `${BEARER_CHALLENGE}, error="insufficient_user_authentication", max_age=${RECENT_LOGIN_MAX_AGE / SECOND}`;
    return INVALID_ACCESS_TOKEN.error(RECENT_LOGIN_REQUIRED, {
      headers: { 'WWW-Authenticate': challenge },
    });
  }
}

function checkScope({ credential }: DashboardActor, { token }: DashboardPermission): ApiError | undefined {
  if (credential.kind === 'session' || token === 'any') return undefined;
  if (token === 'none') {
    return INSUFFICIENT_SCOPE.error(LOGIN_REQUIRED);
  }
  if (credential.scopes.has(token)) return undefined;
  return INSUFFICIENT_SCOPE.error(`The access token lacks the scope ${token}.`, {
    headers: { 'WWW-Authenticate': `${BEARER_CHALLENGE}, error="insufficient_scope", scope="${token}"` },
  });
}

function checkRole(actor: DashboardActor, { role }: DashboardPermission): ApiError | undefined {
  if (role === undefined || DASHBOARD_ROLES.indexOf(actor.role) <= DASHBOARD_ROLES.indexOf(role))
    return undefined;
  return INSUFFICIENT_ROLE.error();
}
