import { finished } from 'node:stream/promises';
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
import { from, lastValueFrom, type Observable } from 'rxjs';
import type { AuditAction } from '../audit-catalog/index.js';
import {
  dashboardActorOf,
  DashboardPermissionGuard,
  AuditRecorder,
  RequirePermission,
  type DashboardActor,
  type DashboardPermission,
  type DashboardIdentity,
} from '../auth/index.js';
import type { PlatformEnvironment, Surface } from '../config/index.js';
import { KeyedQueue } from '../queues/index.js';
import {
  environmentOf,
  FormFields,
  OnSurface,
  RepeatAfterSlowBody,
  type FormOptions,
} from '../http/index.js';
import { RATE_LIMIT_EXCEEDED } from '../errors/index.js';
import type { RateLimit } from '../rate-limiting/index.js';
import { fieldOf } from '../validation/index.js';
import { DashboardLimitGuard, OrganizationQueue, RateLimitGuard } from '../surfaces/index.js';
import { FilteredLists, LIST_QUERY, PAGE_PERMISSION } from './filtered-lists.js';
import type { OpenerPolicy } from './opener-policy.js';
import { type PageResponse, SavedFilters, type SavedFilter } from './page.js';
import {
  FormGuard,
  LoginGuard,
  OptionalLoginGuard,
  ReadFormWith,
  SecondFactorGuard,
  type PageFormOptions,
} from './page.guards.js';
import { PageExceptionFilter } from './page-exception.filter.js';
import { PageRenderer } from './page.renderer.js';
import { RECENT_LOGIN } from './recent-logins.js';
import { repeatedPartOf, SubmittedForms, type RepeatOptions } from './submitted-forms.js';

const REPEATS = 'repeats';
const OPENER = 'opener';
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
      const opener = this.reflector.get<OpenerPolicy | undefined>(OPENER, context.getHandler());
      const rendered = (shown: PageResponse): Promise<string> =>
        this.renderer.render(request, http.getResponse<Response>(), shown, saved, opener);
      const html = await rendered(page);
      const withFewerRows = 'withFewerRows' in page ? page.withFewerRows : undefined;
      if (!withFewerRows || Buffer.byteLength(html) <= MAX_PAGE_SIZE) return html;
      return rendered(await withFewerRows());
    };
    const repeats = this.reflector.get<RepeatOptions | undefined>(REPEATS, context.getHandler());
    const form = repeats && repeatedPartOf(request, repeats);
    let isStored = true;
    const work = async (): Promise<string | StreamableFile> => {
      const page = await lastValueFrom(next.handle());
      isStored = !('isNeverStored' in page && page.isNeverStored);
      return render(page);
    };
    return from(this.forms.once(form, http.getResponse<Response>(), work, () => isStored));
  }

  private async savedFor(request: Request): Promise<readonly SavedFilter[] | undefined> {
    const user = request.user as DashboardIdentity | undefined;
    const list = request.method === 'GET' ? this.lists.at(request.path) : undefined;
    return user && list && this.savedFilters.of(user.userId, list.path);
  }
}

export interface PageRouteOptions {
  /** Defaults to `dashboard`. Pages of other surfaces are not for dashboard users, and ignore their logins. */
  readonly surface?: Surface;
  readonly login: boolean;
  /** Whether users may open it without a second factor that their organization requires. */
  readonly withoutSecondFactor?: boolean;
  /** The milliseconds within which users must have logged in to send the form, if the handler and no permission checks it. */
  readonly recentLogin?: number;
  /** Checked before a form is read. */
  readonly limit?: RateLimit;
  /** Whether the route receives a form, and how it is read. */
  readonly form?: boolean | PageFormOptions;
  /**
   * Whether requests contain a secret that works once, such as a code or the response of another site, so that equal requests of a
   * browser are one that it sent again. Forms with a page token need no such secret.
   */
  readonly isOneTime?: boolean;
  /** Whether equal forms are processed each time, for a page of which no copy may be kept. The handler changes nothing. */
  readonly isNeverStored?: boolean;
  /** Whether the windows of other sites that opened the page find it again. By default, they never do. */
  readonly opener?: OpenerPolicy | undefined;
  /** The permission for the operation that the page shows or performs. */
  readonly permission?: DashboardPermission;
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
    isNeverStored = false,
    opener,
    permission,
    isAction = false,
    isExport = false,
  } = options;
  const formOptions = typeof form === 'object' ? form : {};
  const users = surface === 'dashboard' ? [OptionalLoginGuard] : [];
  const logins = [
    ...(login ? [LoginGuard] : []),
    ...(login && !withoutSecondFactor ? [SecondFactorGuard] : []),
  ];
  const permissions = permission ? [DashboardPermissionGuard] : [];
  return applyDecorators(
    OnSurface(surface),
    ApiExcludeEndpoint(),
    UseGuards(
      ...users,
      ...(limit ? [RateLimitGuard(limit, RATE_LIMIT_EXCEEDED)] : []),
      ...logins,
      ...(permission ? [DashboardLimitGuard] : []),
      ...permissions,
      ...(form ? [FormGuard, RepeatAfterSlowBody(...users, ...logins, ...permissions)] : []),
    ),
    UseInterceptors(
      ...(permission ? [OrganizationQueue] : []),
      ...(isExport && permission?.action ? [RecordExport(permission.action)] : []),
      PageInterceptor,
    ),
    UseFilters(PageExceptionFilter(formOptions, opener)),
    SetMetadata(OPENER, opener),
    ...(form ? [ReadFormWith({ ...formOptions, requiresLogin: login })] : []),
    ...((form && !isNeverStored) || isOneTime ? [SetMetadata(REPEATS, { ...formOptions, isOneTime })] : []),
    ...(permission
      ? [
          SetMetadata(PAGE_PERMISSION, permission),
          // Showing a page or form is not an attempt.
          RequirePermission(
            isAction ? permission : { ...permission, action: undefined, recentLogin: undefined },
          ),
        ]
      : []),
    SetMetadata(RECENT_LOGIN, options.recentLogin ?? (isAction ? permission?.recentLogin : undefined)),
    ...(options.listQuery ? [SetMetadata(LIST_QUERY, options.listQuery)] : []),
  );
}

/** Every logged-in user may open the page and send its forms. */
export const ANY_USER: DashboardPermission = { name: 'any user' };

const permissionIn = (permission: DashboardPermission): Pick<PageRouteOptions, 'permission'> =>
  permission === ANY_USER ? {} : { permission };

/**
 * A page of the dashboard that shows what an operation of the dashboard API returns, or the form for an operation. It
 * requires the operation's permission, and counts toward the same request limit. Denied requests leave no audit log entry,
 * because nothing was attempted yet.
 *
 * @param listQuery the filters of a list, which users can save
 */
export function DashboardPage(
  permission: DashboardPermission,
  listQuery?: Type<object>,
  opener?: OpenerPolicy,
): MethodDecorator {
  return PageRoute({ login: true, ...permissionIn(permission), ...(listQuery && { listQuery }), opener });
}

/**
 * The route of a form that performs an operation of the dashboard API, with the operation's permission, limit and audit log
 * entries.
 */
export function DashboardAction(
  permission: DashboardPermission,
  { opener, ...form }: FormOptions & Pick<PageRouteOptions, 'opener'> = {},
): MethodDecorator {
  return PageRoute({ login: true, ...permissionIn(permission), isAction: true, form, opener });
}

/**
 * A link of a page to a file: what an operation of the dashboard API returns, with the operation's permission, limit and audit
 * log entries. Errors are shown as pages. The handler returns a `StreamableFile`.
 */
export function DashboardFile(permission: DashboardPermission): MethodDecorator {
  return PageRoute({ login: true, permission, isAction: true });
}

/**
 * A link of a page to a file with entries that the page lists. The export appears in the audit log. The handler returns a
 * `StreamableFile`.
 */
export function DashboardExport(permission: DashboardPermission): MethodDecorator {
  return PageRoute({ login: true, permission, isAction: true, isExport: true });
}

/** Seconds. */
const RETRY_AFTER = 5;
/** By organization. Each download reads and writes rows as fast as its client receives them. */
const downloads = new KeyedQueue(2, {
  maxWaiting: 0,
  refusal: () =>
    RATE_LIMIT_EXCEEDED.error(
      'Two downloads of your organization are running. Wait until one of them ends.',
      {
        retryAfter: RETRY_AFTER,
      },
    ),
});

/**
 * Limits the concurrent downloads of an organization, from the request to the end of the response. Records the export that the route
 * declares, after its query was accepted and before the file is sent.
 */
function RecordExport(action: AuditAction): Type<NestInterceptor> {
  @Injectable()
  class ExportInterceptor implements NestInterceptor<StreamableFile, StreamableFile> {
    constructor(private readonly recorder: AuditRecorder) {}

    intercept(context: ExecutionContext, next: CallHandler<StreamableFile>): Observable<StreamableFile> {
      const request = context.switchToHttp().getRequest<Request>();
      const actor = dashboardActorOf(request);
      const exported = async (): Promise<StreamableFile> => {
        const file = await lastValueFrom(next.handle());
        await this.recorder.recordExport(actor, action, environmentOf(request.path));
        return file;
      };
      const response = context.switchToHttp().getResponse<Response>();
      const begun = new Promise<StreamableFile>((resolve, reject) => {
        const download = (): Promise<unknown> => {
          const file = exported();
          resolve(file);
          // The response also ends when its client has gone away, or has stopped reading (`STALLED_TIMEOUT`).
          return Promise.allSettled([file, finished(response)]);
        };
        downloads.run(actor.organizationId, download).catch(reject);
      });
      return from(begun);
    }
  }
  return mixin(ExportInterceptor);
}

/** A request for a page. `Name` are the placeholders of its path. */
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
