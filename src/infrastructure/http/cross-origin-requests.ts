import { Injectable, type CanActivate, type ExecutionContext, type NestMiddleware } from '@nestjs/common';
import cors from 'cors';
import type { NextFunction, Request, Response } from 'express';
import { ServiceConfiguration } from '../config/index.js';
import { NO_ACCESS } from '../errors/index.js';
import { HttpConfiguration } from './http.configuration.js';

/**
 * Paths that pages of other origins may request. Their operations take no credentials of an organization, which do not
 * belong in a browser; the token of an agent is for one user.
 */
const PATHS: ReadonlySet<string> = new Set([
  '/session/open',
  '/apply',
  '/mcp',
  '/openapi.json',
  '/openapi-3.0.json',
  '/openapi.yaml',
]);

/** The same for agents that log in: their address, and the endpoints without credentials that they log in with. */
const AGENT_PATH =
  /^\/(?:mcp\/[\w-]{36}|connections\/[\w-]{36}\/(?:token|revoke|register|\.well-known\/openid-configuration)|\.well-known\/[\w-]+\/(?:mcp|connections)\/[\w-]{36})$/;

const EXPOSED_HEADERS = [
  'X-Request-Id',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'Link',
  'WWW-Authenticate',
];

/** Seconds for which browsers may cache the response to a preflight request. Chromium allows at most two hours. */
const PREFLIGHT_MAX_AGE = 7_200;

const ORIGIN_NOT_ALLOWED = 'The origin of this web page is not allowed. Add it to CORS_ORIGINS.';

/** The origins whose pages may request some operations in a browser. */
@Injectable()
export class AllowedOrigins {
  /** `*` stands for all. */
  readonly all: readonly string[];

  constructor({ corsOrigins }: HttpConfiguration, { isProduction }: ServiceConfiguration) {
    this.all = corsOrigins ?? (isProduction ? [] : ['*']);
  }

  includes(origin: string): boolean {
    return this.all.includes('*') || this.all.includes(origin);
  }
}

/**
 * Allows browsers to request `PATHS` from pages of the allowed origins, without cookies, and responds to their preflight
 * requests. If no origin is allowed, all cross-origin requests are refused.
 */
@Injectable()
export class CrossOriginRequests implements NestMiddleware {
  private readonly allow = cors({
    origin: this.origins.includes('*') ? '*' : [...this.origins.all],
    methods: ['GET', 'HEAD', 'POST'],
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_MAX_AGE,
  });

  constructor(private readonly origins: AllowedOrigins) {}

  readonly use = (request: Request, response: Response, next: NextFunction): void => {
    const { path } = request;
    const isOpen = PATHS.has(path) || AGENT_PATH.test(path);
    if (isOpen && this.origins.all.length > 0) this.allow(request, response, next);
    else next();
  };
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
