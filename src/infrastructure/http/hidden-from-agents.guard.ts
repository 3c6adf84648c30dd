import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ServiceConfiguration, type Surface } from '../config/index.js';
import { NOT_FOUND } from '../errors/index.js';
import { hostOf } from './cookies.js';

/** MCP clients send it when they look for an authorization server (MCP, "Authorization"). */
const HEADER = 'MCP-Protocol-Version';

/**
 * Hides metadata of the device flow from MCP clients, which would start an authorization code flow with it and fail: on the
 * connector's own host for everyone, and on a host that it shares with the dashboard for requests that name a revision of MCP.
 */
@Injectable()
export class HiddenFromAgentsGuard implements CanActivate {
  private readonly connector = this.urlOf('connector');
  private readonly isShared = this.connector?.host === this.urlOf('dashboard')?.host;

  constructor(private readonly configuration: ServiceConfiguration) {}

  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    http.getResponse<Response>().vary(HEADER);
    const { connector, isShared } = this;
    const isForAgents = connector && !isShared && hostOf(request, connector.protocol) === connector.host;
    if (isForAgents || request.get(HEADER) !== undefined) throw NOT_FOUND.error();
    return true;
  }

  private urlOf(surface: Surface): URL | undefined {
    const url = this.configuration.publicUrlOf(surface);
    return url === undefined ? undefined : new URL(url);
  }
}
