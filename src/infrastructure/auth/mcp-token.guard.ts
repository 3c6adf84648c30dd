import { Injectable, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { requestContext } from '../http/index.js';
import { currentAgentOf } from './authenticated-agent.js';
import { BearerTokenGuard } from './bearer-token.guard.js';

/** RFC 6750, section 3. */
const MCP_TOKEN = { challenge: 'Bearer realm="Agent connector"', name: 'MCP token' };

/** Admits requests with a valid MCP token, and attributes them to the client and user of the token. */
@Injectable()
export class McpTokenGuard extends BearerTokenGuard('mcp-token', MCP_TOKEN) {
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    await super.canActivate(context);
    const request = context.switchToHttp().getRequest<Request>();
    const { client, externalUserId } = currentAgentOf(request);
    Object.assign(requestContext(request), { client, externalUserId });
    return true;
  }
}
