import { Injectable, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { requestContext } from '../http/index.js';
import { currentAgentOf } from './authenticated-agent.js';
import { RandomTokenGuard } from './bearer-token.guard.js';

/** RFC 6750, section 3. */
const MCP_TOKEN = {
  challenge: 'Bearer realm="Agent connector"',
  name: 'MCP token',
  remedy:
    'The company that the agent works for creates a token with POST /mcp/tokens/create, and configures it in the agent ' +
    'as the header "Authorization: Bearer <token>".',
};

/**
 * Admits requests with a valid MCP token, and attributes them to the client and user of the token. They are not written to the
 * request log, unless they turn out to be tool calls.
 */
@Injectable()
export class McpTokenGuard extends RandomTokenGuard('mcp-token', MCP_TOKEN) {
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    await super.canActivate(context);
    const request = context.switchToHttp().getRequest<Request>();
    const { client, externalUserId } = currentAgentOf(request);
    Object.assign(requestContext(request), { client, externalUserId, isRecorded: false });
    return true;
  }
}
