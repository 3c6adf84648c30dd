import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { TOO_MANY_REQUESTS } from '../../infrastructure/errors/index.js';
import { RateLimitGuard, type RateLimit } from '../../infrastructure/rate-limiting/index.js';
import { AgentConnectorConfiguration } from './agent-connector.configuration.js';
import { calledTool } from './json-rpc-message.js';

const LIMIT: RateLimit = {
  name: 'tool-calls',
  requests: (configuration) => configuration.get(AgentConnectorConfiguration).toolCallsPerMinute,
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
