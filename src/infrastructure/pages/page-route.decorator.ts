import {
  applyDecorators,
  createParamDecorator,
  Injectable,
  mixin,
  SetMetadata,
  StreamableFile,
  UseFilters,
  UseGuards,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  type Type,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiExcludeEndpoint } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { from, lastValueFrom, mergeMap, type Observable } from 'rxjs';
import {
  dashboardActorOf,
  DashboardPermissionGuard,
  AuditRecorder,
  permissionOf,
  RequirePermission,
  type AuditedAction,
  type DashboardActor,
  type DashboardOperationName,
  type DashboardIdentity,
} from '../auth/index.js';
import type { PlatformEnvironment, Surface } from '../config/index.js';
import { environmentOf, FormFields, OnSurface, type FormOptions } from '../http/index.js';
import { RATE_LIMIT_EXCEEDED } from '../errors/index.js';
import type { RateLimit } from '../rate-limiting/index.js';
import { fieldOf } from '../validation/index.js';
import { DashboardLimitGuard, OrganizationQueue, RateLimitGuard } from '../surfaces/index.js';
import { FilteredLists, LIST_QUERY, PAGE_OPERATION } from './filtered-lists.js';
import { type PageResponse, SavedFilters, type SavedFilter } from './page.js';
import {
  FormGuard,
  LoginGuard,
  PageGuard,
  ReadFormWith,
  SecondFactorGuard,
  type PageFormOptions,
} from './page.guards.js';
import { PageExceptionFilter } from './page-exception.filter.js';
import { PageRenderer } from './page.renderer.js';
import { repeatedPartOf, SubmittedForms, type RepeatOptions } from './submitted-forms.js';

const REPEATS = 'repeats';
/** Bytes of HTML. */
const MAX_PAGE_SIZE = 60_000;

/** Renders the page that the handler returns, or sends the file. Repeats the response to a form that is sent again. */
@Injectable()
class PageInterceptor implements NestInterceptor<PageResponse | StreamableFile, string | StreamableFile> {
  constructor(
    private readonly renderer: PageRenderer,
    private readonly lists: FilteredLists,
    private readonly savedFilters: SavedFilters,
    private readonly forms: SubmittedForms,
    private readonly reflector: Reflector,
  ) {}

  intercept(
    context: ExecutionContext,
    next: CallHandler<PageResponse | StreamableFile>,
  ): Observable<string | StreamableFile> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const render = async (page: PageResponse | StreamableFile): Promise<string | StreamableFile> => {
      if (page instanceof StreamableFile) return page;
      const saved = 'redirectTo' in page ? undefined : await this.savedFor(request);
      const rendered = (shown: PageResponse): string =>
        this.renderer.render(request, http.getResponse<Response>(), shown, saved);
      const html = rendered(page);
      const withFewerRows = 'withFewerRows' in page ? page.withFewerRows : undefined;
      if (!withFewerRows || Buffer.byteLength(html) <= MAX_PAGE_SIZE) return html;
      return rendered(await withFewerRows());
    };
    const repeats = this.reflector.get<RepeatOptions | undefined>(REPEATS, context.getHandler());
    const form = repeats && repeatedPartOf(request, repeats);
    const work = async (): Promise<string | StreamableFile> => render(await lastValueFrom(next.handle()));
    return from(this.forms.once(form, http.getResponse<Response>(), work));
  }

  private async savedFor(request: Request): Promise<readonly SavedFilter[] | undefined> {
    const user = request.user as DashboardIdentity | undefined;
    const list = request.method === 'GET' ? this.lists.at(request.path) : undefined;
    return user && list && this.savedFilters.of(user.userId, list.path);
  }
}

interface PageRouteOptions {
  /** Defaults to `dashboard`. Pages of other surfaces are not for dashboard users, and ignore their logins. */
  readonly surface?: Surface;
  readonly login: boolean;
  /** Whether users may open it without a second factor that their organization requires. */
  readonly withoutSecondFactor?: boolean;
  /** Checked before a form is read. */
  readonly limit?: RateLimit;
  /** Whether the route receives a form, and how it is read. */
  readonly form?: boolean | PageFormOptions;
  /**
   * Whether requests contain a secret that works once, such as a code or the response of another site, so that equal requests of a
   * browser are one that it sent again. Forms with a page token need no such secret.
   */
  readonly isOneTime?: boolean;
  /** What the page shows or performs. */
  readonly operation?: DashboardOperationName;
  /** Whether the route performs the operation, so that denied requests are recorded. */
  readonly isAction?: boolean;
  /** Whether the route sends a file with entries, which is recorded when the file is sent. */
  readonly isExport?: boolean;
  /** The query of the operation, if the page is a list whose filters users can save. */
  readonly listQuery?: Type<object>;
}

/**
 * Marks a route as a page, which is not part of the API document. Its handler returns a `PageResponse` or a file. Lists
 * everything that runs around the handler, in this order.
 */
export function PageRoute(options: PageRouteOptions): MethodDecorator {
  const {
    surface = 'dashboard',
    login,
    withoutSecondFactor = false,
    limit,
    form,
    isOneTime = false,
    operation,
    isAction = false,
    isExport = false,
  } = options;
  const permission = operation && permissionOf(operation);
  const formOptions = typeof form === 'object' ? form : {};
  return applyDecorators(
    OnSurface(surface),
    ApiExcludeEndpoint(),
    UseGuards(
      ...(surface === 'dashboard' ? [PageGuard] : []),
      ...(limit ? [RateLimitGuard(limit, RATE_LIMIT_EXCEEDED)] : []),
      ...(login ? [LoginGuard] : []),
      ...(login && !withoutSecondFactor ? [SecondFactorGuard] : []),
      ...(operation ? [DashboardLimitGuard, DashboardPermissionGuard] : []),
      ...(form ? [FormGuard] : []),
    ),
    UseInterceptors(
      ...(operation ? [OrganizationQueue] : []),
      ...(isExport && permission?.action ? [RecordExport(permission.action)] : []),
      PageInterceptor,
    ),
    UseFilters(PageExceptionFilter),
    ...(form ? [ReadFormWith({ ...formOptions, requiresLogin: login })] : []),
    ...(form || isOneTime ? [SetMetadata(REPEATS, { ...formOptions, isOneTime })] : []),
    ...(permission
      ? [
          SetMetadata(PAGE_OPERATION, operation),
          // Nothing was attempted yet when a page or form is shown.
          RequirePermission(isAction ? permission : { ...permission, action: undefined }),
        ]
      : []),
    ...(options.listQuery ? [SetMetadata(LIST_QUERY, options.listQuery)] : []),
  );
}

/** In place of an operation: every logged-in user may open the page and send its forms. */
export const ANY_USER = 'any user';

export type PageOperation = DashboardOperationName | typeof ANY_USER;

const operationIn = (operation: PageOperation): Pick<PageRouteOptions, 'operation'> =>
  operation === ANY_USER ? {} : { operation };

/**
 * A page of the dashboard that shows what an operation of the dashboard API returns, or the form for an operation. It
 * requires the operation's permission, and counts toward the same request limit. Denied requests leave no audit log entry,
 * because nothing was attempted yet.
 *
 * @param listQuery the filters of a list, which users can save
 */
export function DashboardPage(operation: PageOperation, listQuery?: Type<object>): MethodDecorator {
  return PageRoute({ login: true, ...operationIn(operation), ...(listQuery && { listQuery }) });
}

/**
 * The route of a form that performs an operation of the dashboard API, with the operation's permission, limit and audit log
 * entries.
 */
export function DashboardAction(operation: PageOperation, form: FormOptions = {}): MethodDecorator {
  return PageRoute({ login: true, ...operationIn(operation), isAction: true, form });
}

/**
 * A link of a page to a file: what an operation of the dashboard API returns, with the operation's permission, limit and audit
 * log entries. Errors are shown as pages. The handler returns a `StreamableFile`.
 */
export function DashboardFile(operation: DashboardOperationName): MethodDecorator {
  return PageRoute({ login: true, operation, isAction: true });
}

/**
 * A link of a page to a file with entries that the page lists. The export appears in the audit log. The handler returns a
 * `StreamableFile`.
 */
export function DashboardExport(operation: DashboardOperationName): MethodDecorator {
  return PageRoute({ login: true, operation, isAction: true, isExport: true });
}

/** Records the export that the route declares, after its query was accepted and before the file is sent. */
function RecordExport(action: AuditedAction): Type<NestInterceptor> {
  @Injectable()
  class ExportInterceptor implements NestInterceptor<StreamableFile, StreamableFile> {
    constructor(private readonly recorder: AuditRecorder) {}

    intercept(context: ExecutionContext, next: CallHandler<StreamableFile>): Observable<StreamableFile> {
      const request = context.switchToHttp().getRequest<Request>();
      const environment = environmentOf(request.path);
      return next.handle().pipe(
        mergeMap(async (file) => {
          await this.recorder.recordExport(dashboardActorOf(request), action, environment);
          return file;
        }),
      );
    }
  }
  return mixin(ExportInterceptor);
}

/** What a page was requested with. `Name` are the placeholders of its path. */
export interface PageVisit<Name extends string = never> {
  /** Only for pages that require a login. */
  readonly actor: DashboardActor;
  /** Only for controllers with the paths of `inEachEnvironment`. */
  readonly environment: PlatformEnvironment;
  readonly params: Readonly<Record<Name, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** Empty if the page was opened. */
  readonly form: FormFields;
  readonly request: Request;
  /** For headers and cookies. What the handler returns is sent. */
  readonly response: Response;
}

/** Returns the environment of the page if the class of a request has the field. */
export function environmentFor(
  { prototype }: Type<object>,
  visit: PageVisit,
): { readonly environment?: PlatformEnvironment } {
  return fieldOf(prototype as object, 'environment') ? { environment: visit.environment } : {};
}

const NO_FORM = new FormFields(new URLSearchParams());

/** Handler parameter: a `PageVisit`. */
export const Visit = createParamDecorator((_data: unknown, context: ExecutionContext): PageVisit<string> => {
  const http = context.switchToHttp();
  const request = http.getRequest<Request>();
  return {
    actor: dashboardActorOf(request),
    get environment() {
      return pageEnvironmentOf(request);
    },
    params: request.params as Record<string, string>,
    query: request.query,
    form: request.body instanceof FormFields ? request.body : NO_FORM,
    request,
    response: http.getResponse<Response>(),
  };
});

function pageEnvironmentOf({ path }: Pick<Request, 'path'>): PlatformEnvironment {
  const environment = environmentOf(path);
  if (!environment) throw new Error('The path of the page names no environment');
  return environment;
}
