import { Router, type Express, type NextFunction, type Request, type Response } from 'express';

/** The first segment of a path that begins without a parameter or a wildcard. */
const LITERAL_SEGMENT = /^\/([\w.-]+)(?=\/|$)/;

/** Leaves a router before Express responds to OPTIONS by itself. */
const NOT_FOUND_HERE = Symbol('not found here');

/**
 * Keeps the routes of an application in a router for each first segment of their paths, such as `mcp`. Express tries one route after the
 * other, each with a regular expression: without this, a request tries those of all pages before its own. Evidence:
 * docs/decisions/0035-speed-on-node-24.md. Routes without a literal first segment stay in the application itself.
 *
 * All routes have to be added before the first request, and after the middleware.
 */
export function routesBySegment(application: Express): Express {
  const routers = new Map<string, Router>();
  const options = {
    caseSensitive: application.enabled('case sensitive routing'),
    strict: application.enabled('strict routing'),
  };
  let isComplete = false;
  const dispatch = (request: Request, response: Response, next: NextFunction): void => {
    if (!isComplete) {
      isComplete = true;
      for (const each of routers.values()) each.use(leave);
    }
    const router = routers.get(firstSegment(request.path));
    if (router) router(request, response, (error) => next(error === NOT_FOUND_HERE ? undefined : error));
    else next();
  };
  const route = application.route.bind(application);
  application.route = ((path: unknown) => {
    const [, segment] = (typeof path === 'string' && LITERAL_SEGMENT.exec(path)) || [];
    if (segment === undefined) return route(path as string);
    if (isComplete) throw new Error(`The route ${path as string} has to be added before the first request`);
    if (routers.size === 0) application.use(dispatch);
    let router = routers.get(segment);
    if (!router) routers.set(segment, (router = Router(options)));
    return router.route(path as string);
  }) as Express['route'];
  return application;
}

function leave(_request: Request, _response: Response, next: NextFunction): void {
  next(NOT_FOUND_HERE);
}

function firstSegment(path: string): string {
  const end = path.indexOf('/', 1);
  return end === -1 ? path.slice(1) : path.slice(1, end);
}
