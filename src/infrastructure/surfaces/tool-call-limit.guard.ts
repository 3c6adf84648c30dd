import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { TOO_MANY_REQUESTS } from '../errors/index.js';
import { calledTool } from '../json-rpc/index.js';
import { ConnectorRateLimitConfiguration, RateLimitGuard, type RateLimit } from '../rate-limiting/index.js';

const LIMIT: RateLimit = {
  name: 'tool-calls',
  requests: (configuration) => configuration.get(ConnectorRateLimitConfiguration).toolCallsPerMinute,
  per: 'agent',
  seconds: 60,
};

/** Limits tool calls; other messages of the protocol cost little. */
@Injectable()
export class ToolCallLimitGuard extends RateLimitGuard(LIMIT, TOO_MANY_REQUESTS) {
  override canActivate(context: ExecutionContext): ReturnType<CanActivate['canActivate']> {
    const isToolCall = calledTool(context.switchToHttp().getRequest<Request>().body) !== undefined;
    return isToolCall ? super.canActivate(context) : true;
  }
}
