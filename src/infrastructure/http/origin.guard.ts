import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { NO_ACCESS } from '../errors/index.js';
import { AllowedOrigins } from './allowed-origins.js';

const ORIGIN_NOT_ALLOWED = 'The origin of this web page is not allowed. Add it to CORS_ORIGINS.';

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
