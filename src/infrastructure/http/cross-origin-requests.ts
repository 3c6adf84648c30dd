import {
  Injectable,
  SetMetadata,
  type CanActivate,
  type ExecutionContext,
  type NestMiddleware,
} from '@nestjs/common';
import cors from 'cors';
import type { NextFunction, Request, Response } from 'express';
import { ServiceConfiguration } from '../config/index.js';
import { NO_ACCESS } from '../errors/index.js';
import { HttpConfiguration } from './http.configuration.js';
import { RouteTable, WELL_KNOWN, type PathTest } from './route-table.js';

const OPEN = 'open to other origins';

/**
 * Allows pages of other origins to request a route. It takes no credentials of an organization, which do not belong in a
 * browser; the token of an agent is for one user.
 */
export const OpenToOtherOrigins = (): MethodDecorator => SetMetadata(OPEN, true);

const EXPOSED_HEADERS = [
  'X-Request-Id',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'Link',
  'WWW-Authenticate',
  'Mcp-Session-Id',
];

/** Seconds for which browsers may cache the response to a preflight request. Chromium allows at most two hours. */
const PREFLIGHT_MAX_AGE = 7_200;

const ORIGIN_NOT_ALLOWED = 'The origin of this web page is not allowed. Add it to CORS_ORIGINS.';

/** Pages of servers on this machine, and pages without an origin, such as local files. Other sites could attack a developer's service. */
const LOCAL_ORIGINS = [
  /^https?:\/\/(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/,
  'null',
] as const;

/** The origins whose pages may request some operations in a browser. */
@Injectable()
export class AllowedOrigins {
  /** `*` stands for all. */
  readonly all: readonly (string | RegExp)[];

  constructor({ corsOrigins }: HttpConfiguration, { isProduction }: ServiceConfiguration) {
    this.all = corsOrigins ?? (isProduction ? [] : LOCAL_ORIGINS);
  }

  includes(origin: string): boolean {
    return this.all.some((each) =>
      typeof each === 'string' ? each === '*' || each === origin : each.test(origin),
    );
  }
}

/**
 * Allows browsers to request the routes with `OpenToOtherOrigins` from pages of the allowed origins, without cookies, and
 * responds to their preflight requests. If no origin is allowed, all cross-origin requests are refused.
 */
@Injectable()
export class CrossOriginRequests implements NestMiddleware {
  private readonly allow = cors({
    origin: this.origins.all.includes('*') ? '*' : [...this.origins.all],
    methods: ['GET', 'HEAD', 'POST'],
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_MAX_AGE,
  });

  private isOpen: PathTest | undefined;

  constructor(
    private readonly origins: AllowedOrigins,
    private readonly routes: RouteTable,
  ) {}

  readonly use = (request: Request, response: Response, next: NextFunction): void => {
    this.isOpen ??= this.routes.pathsWith(OPEN);
    const { path } = request;
    if ((this.isOpen(path) || this.isMissingMetadata(path)) && this.origins.all.length > 0)
      this.allow(request, response, next);
    else next();
  };

  /** Clients look for metadata at several paths. A browser would hide the 404 from a page, which would then look no further. */
  private isMissingMetadata(path: string): boolean {
    return path.includes(WELL_KNOWN) && !this.routes.hasRouteAt(path);
  }
}

/**
 * Refuses requests of web pages whose origin is not allowed, which protects against DNS rebinding (MCP, "Transports", security
 * warning). Other programs send no `Origin` header.
 */
@Injectable()
export class OriginGuard implements CanActivate {
  constructor(private readonly origins: AllowedOrigins) {}

  canActivate(context: ExecutionContext): boolean {
    const { origin } = context.switchToHttp().getRequest<Request>().headers;
    if (origin === undefined || this.origins.includes(origin)) return true;
    throw NO_ACCESS.error(ORIGIN_NOT_ALLOWED);
  }
}
