import { Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import cors from 'cors';
import type { Request, RequestHandler } from 'express';
import { ServiceConfiguration } from '../config/index.js';
import { NO_ACCESS } from '../errors/index.js';
import { HttpConfiguration } from './http.configuration.js';

export const OPEN = 'open to other origins';

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

  /** Middleware that allows browsers to use responses, without cookies, and responds to their preflight requests. */
  readonly allow: RequestHandler;

  constructor({ corsOrigins }: HttpConfiguration, { isProduction }: ServiceConfiguration) {
    this.all = corsOrigins ?? (isProduction ? [] : LOCAL_ORIGINS);
    this.allow = cors({
      origin: this.all.includes('*') ? '*' : [...this.all],
      methods: ['GET', 'HEAD', 'POST'],
      exposedHeaders: EXPOSED_HEADERS,
      maxAge: PREFLIGHT_MAX_AGE,
    });
  }

  includes(origin: string): boolean {
    return this.all.some((each) =>
      typeof each === 'string' ? each === '*' || each === origin : each.test(origin),
    );
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
