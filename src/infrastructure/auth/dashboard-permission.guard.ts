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
import { BEARER_CHALLENGE } from './bearer.strategy.js';
import {
  dashboardCallerOf,
  DASHBOARD_ROLES,
  type DashboardCaller,
  type DashboardRole,
  type Scope,
} from './dashboard-caller.js';
import { RefusalRecorder, type AuditedAction } from './refusal-recorder.js';

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
  readonly freshLogin?: boolean;
  /** What the audit log calls the action, so that refused attempts are recorded too. */
  readonly action?: AuditedAction;
}

/** Said to whoever presents an access token where a person has to be logged in. */
export const NO_TOKEN = 'No access token is good for this operation: log in to the dashboard.';
/** Said where a fresh login is asked for. */
export const STALE_LOGIN = 'Log in again: this needs a login that is not older than 5 minutes.';

/** How old a login may be where a fresh one is asked for. */
const FRESH_FOR = 5 * MINUTE;

const PERMISSION = 'dashboard permission';
/** Tells `DashboardPermissionGuard` what the operation asks for. */
export const RequirePermission = (permission: DashboardPermission): MethodDecorator =>
  SetMetadata(PERMISSION, permission);

/** Lets in whom the operation is for; behind `DashboardAuthGuard`. */
@Injectable()
export class DashboardPermissionGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly refusals: RefusalRecorder,
    private readonly clock: Clock,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const permission = this.reflector.get<DashboardPermission>(PERMISSION, context.getHandler());
    const caller = dashboardCallerOf(context.switchToHttp().getRequest<Request>());
    const refusal = this.refusal(caller, permission);
    if (!refusal) return true;
    if (permission.action) await this.refusals.recordRefusal(caller, permission.action);
    throw refusal;
  }

  private refusal(caller: DashboardCaller, permission: DashboardPermission): ApiError | undefined {
    return (
      lackOfScope(caller, permission) ??
      lackOfRole(caller, permission) ??
      (permission.freshLogin ? this.staleness(caller) : undefined)
    );
  }

  /** RFC 9470, section 3: the user has to authenticate once more. */
  private staleness({ credential }: DashboardCaller): ApiError | undefined {
    const isFresh =
      credential.kind === 'session' &&
      this.clock.milliseconds() - credential.authenticatedAt.getTime() <= FRESH_FOR;
    if (isFresh) return undefined;
    const challenge = `${BEARER_CHALLENGE}, error="insufficient_user_authentication", max_age=${FRESH_FOR / SECOND}`;
    return INVALID_ACCESS_TOKEN.error(STALE_LOGIN, {
      headers: { 'WWW-Authenticate': challenge },
    });
  }
}

function lackOfScope({ credential }: DashboardCaller, { token }: DashboardPermission): ApiError | undefined {
  if (credential.kind === 'session' || token === 'any') return undefined;
  if (token === 'none') {
    return INSUFFICIENT_SCOPE.error(NO_TOKEN);
  }
  if (credential.scopes.has(token)) return undefined;
  return INSUFFICIENT_SCOPE.error(`The access token lacks the scope ${token}.`, {
    headers: { 'WWW-Authenticate': `${BEARER_CHALLENGE}, error="insufficient_scope", scope="${token}"` },
  });
}

function lackOfRole(caller: DashboardCaller, { role }: DashboardPermission): ApiError | undefined {
  if (role === undefined || DASHBOARD_ROLES.indexOf(caller.role) <= DASHBOARD_ROLES.indexOf(role))
    return undefined;
  return INSUFFICIENT_ROLE.error();
}
