import { Injectable, RequestMethod, type NestMiddleware } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import type { ApiError } from '../errors/index.js';
import { AllowedOrigins, OPEN } from './cross-origin-requests.js';
import { OPTIONAL_SLASH, SLASH_AT_END } from './optional-slash.js';
import { methodsOf, RouteTable, WELL_KNOWN, type PathTest, type Route } from './route-table.js';

const EVERY_METHOD = RequestMethod[RequestMethod.ALL];

/** What the middleware knows of the routes, once the application has all controllers. */
interface Paths {
  readonly hasOptionalSlash: PathTest;
  readonly isOpen: PathTest;
  /** The methods of the paths without parameters, `EVERY_METHOD` included. */
  readonly methods: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Does what depends on the route, before Express looks for it. */
@Injectable()
export class ServedRoutes implements NestMiddleware {
  private known: Paths | undefined;

  constructor(
    private readonly routes: RouteTable,
    private readonly origins: AllowedOrigins,
  ) {}

  /**
   * Removes the slash at the end of the path for routes with `AcceptSlashAtEnd`. Allows browsers to request the routes with
   * `OpenToOtherOrigins` from pages of the allowed origins, and responds to their preflight requests; pages can read the errors of
   * the last step, too.
   */
  readonly use = (request: Request, response: Response, next: NextFunction): void => {
    this.known ??= this.readPaths();
    const [, withoutSlash] = SLASH_AT_END.exec(request.url) ?? [];
    if (withoutSlash !== undefined && this.known.hasOptionalSlash(withoutSlash))
      request.url = request.url.replace(SLASH_AT_END, '$1');
    const { path } = request;
    if ((this.known.isOpen(path) || this.isMissingMetadata(path)) && this.origins.all.length > 0)
      this.origins.allow(request, response, (error) => next(error ?? this.problemOf(request)));
    else next(this.problemOf(request));
  };

  private readPaths(): Paths {
    const fixed = this.routes.served.filter(({ path }) => !path.includes(':'));
    const routesAt = (path: string): Route[] => fixed.filter((route) => route.path === path);
    return {
      hasOptionalSlash: this.routes.pathsWith(OPTIONAL_SLASH),
      isOpen: this.routes.pathsWith(OPEN),
      methods: new Map(fixed.map(({ path }) => [path, methodsOf(routesAt(path))])),
    };
  }

  /** Clients look for metadata at several paths. A browser would hide the 404 from a page, which would then look no further. */
  private isMissingMetadata(path: string): boolean {
    return path.includes(WELL_KNOWN) && !this.routes.hasRouteAt(path);
  }

  /**
   * Returns the error for a request that Express would give to a wrong route: one of a surface that this process does not serve,
   * or a route with parameters that takes the `create` of `/users/create` for an ID if the method is not that of `/users/create`.
   */
  private problemOf({ path, method }: Request): ApiError | undefined {
    const methods = this.known?.methods.get(path);
    if (methods?.has(method) || methods?.has(EVERY_METHOD)) return undefined;
    const isWrong = methods ? this.isAmbiguous(path, method) : this.isElsewhere(path);
    return isWrong ? this.routes.noRoute(path) : undefined;
  }

  private isAmbiguous(path: string, method: string): boolean {
    return this.routes.served.some(
      (route) =>
        route.path !== path &&
        route.pattern.test(path) &&
        [EVERY_METHOD, method].some((each) => methodsOf([route]).has(each)),
    );
  }

  private isElsewhere(path: string): boolean {
    const matches = (routes: readonly Route[]): boolean => routes.some(({ pattern }) => pattern.test(path));
    return matches(this.routes.others) && !matches(this.routes.served);
  }
}
