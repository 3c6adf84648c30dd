import {
  applyDecorators,
  Controller,
  createParamDecorator,
  Injectable,
  UseGuards,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { ApiExcludeEndpoint } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { map, type Observable } from 'rxjs';
import { DashboardPermissionGuard, permissionOf, RequirePermission } from '../auth/index.js';
import { ENVIRONMENTS, type PlatformEnvironment } from '../config/index.js';
import { NOT_FOUND } from '../errors/index.js';
import { OnSurface, type FormFields } from '../http/index.js';
import { DashboardLimitGuard } from '../surfaces/index.js';
import { dashboardPath } from './dashboard-path.js';
import type { PageResponse } from './page-response.js';
import { FormGuard, LoginGuard, PageGuard, SecondFactorGuard } from './page.guards.js';
import { PageRenderer } from './page.renderer.js';
import { environmentIn } from './page-environment.js';

/** Renders the page that the handler returns. */
@Injectable()
class PageInterceptor implements NestInterceptor<PageResponse, string> {
  constructor(private readonly renderer: PageRenderer) {}

  intercept(context: ExecutionContext, next: CallHandler<PageResponse>): Observable<string> {
    const http = context.switchToHttp();
    const render = (page: PageResponse): string =>
      this.renderer.render(http.getRequest<Request>(), http.getResponse<Response>(), page);
    return next.handle().pipe(map(render));
  }
}

export interface PageRouteOptions {
  /** Whether the page requires a login. */
  readonly login: boolean;
  /** Whether users may open it without a second factor that their organization requires. */
  readonly withoutSecondFactor?: boolean;
  /** Whether the route receives a form. */
  readonly form?: boolean;
}

/** Marks a route as a page, which is not part of the API document. Its handler returns a `PageResponse`. */
export function PageRoute({
  login,
  withoutSecondFactor = false,
  form = false,
}: PageRouteOptions): MethodDecorator {
  return applyDecorators(
    OnSurface('dashboard'),
    ApiExcludeEndpoint(),
    UseGuards(
      PageGuard,
      ...(login ? [LoginGuard] : []),
      ...(login && !withoutSecondFactor ? [SecondFactorGuard] : []),
      ...(form ? [FormGuard] : []),
    ),
    UseInterceptors(PageInterceptor),
  );
}

/** Operations of the dashboard API that have a page. */
const shownOperations = new Set<string>();

/** Returns the `operationId` of every operation that has a page: one that shows it, or a form that performs it. */
export function operationsWithPages(): ReadonlySet<string> {
  return shownOperations;
}

/**
 * A page of the dashboard that shows what an operation of the dashboard API returns, or the form for an operation. It
 * requires the operation's permission, and counts toward the same request limit. Denied requests leave no audit log entry,
 * because nothing was attempted yet.
 */
export function DashboardPage(operationId: string): MethodDecorator {
  return dashboardRoute(operationId, false);
}

/**
 * The route of a form that performs an operation of the dashboard API, with the operation's permission, limit and audit log
 * entries.
 */
export function DashboardAction(operationId: string): MethodDecorator {
  return dashboardRoute(operationId, true);
}

function dashboardRoute(operationId: string, isAction: boolean): MethodDecorator {
  shownOperations.add(operationId);
  return applyDecorators(
    OnSurface('dashboard'),
    ApiExcludeEndpoint(),
    RequirePermission(() => {
      const { action, ...permission } = permissionOf(operationId);
      return isAction && action ? { ...permission, action } : permission;
    }),
    UseGuards(
      PageGuard,
      LoginGuard,
      SecondFactorGuard,
      DashboardLimitGuard,
      DashboardPermissionGuard,
      ...(isAction ? [FormGuard] : []),
    ),
    UseInterceptors(PageInterceptor),
  );
}

/** Handler parameter: the form that was sent to a page. */
export const FormBody = createParamDecorator(
  (_data: unknown, context: ExecutionContext): FormFields =>
    context.switchToHttp().getRequest<Request>().body as FormFields,
);

/**
 * A controller of pages that show one environment, at `/dashboard/<environment>/<page>`. Each environment has routes of its
 * own, because a parameter in place of the environment would also match pages of the whole organization.
 *
 * @param page empty for the first page of an environment
 */
export function EnvironmentController(page: string): ClassDecorator {
  return Controller(ENVIRONMENTS.map((environment) => dashboardPath(environment, ...(page ? [page] : []))));
}

/** Handler parameter: the environment in the path of the page. */
export const PageEnvironment = createParamDecorator(
  (_data: unknown, context: ExecutionContext): PlatformEnvironment => {
    const environment = environmentIn(context.switchToHttp().getRequest<Request>());
    if (!environment) throw NOT_FOUND.error();
    return environment;
  },
);
