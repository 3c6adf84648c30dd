import { applyDecorators, UseGuards } from '@nestjs/common';
import { ApiExcludeEndpoint } from '@nestjs/swagger';
import { McpTokenGuard } from '../auth/index.js';
import { TOO_MANY_REQUESTS } from '../errors/index.js';
import { OnSurface, OriginGuard } from '../http/index.js';
import { JsonRpcMessageGuard } from '../json-rpc/index.js';
import { ConnectorRateLimitConfiguration, RateLimitGuard, type RateLimit } from '../rate-limiting/index.js';

/**
 * Counts all messages. Tool calls also have a lower limit of their own, whose refusal is a result that agents can read: only a
 * client that ignores it, or repeats other messages without end, gets here.
 */
const LIMIT: RateLimit = {
  name: 'mcp-messages',
  requests: (configuration) => configuration.get(ConnectorRateLimitConfiguration).messagesPerMinute,
  per: 'agent',
  seconds: 60,
};

/**
 * A route of the Model Context Protocol. Checks the origin (403), the token (401) and the limit of messages (429) before it
 * reads the body. It is not part of the API document, because JSON-RPC has its own descriptions of methods.
 */
export function ConnectorRoute(): MethodDecorator {
  return applyDecorators(
    OnSurface('connector'),
    ApiExcludeEndpoint(),
    UseGuards(OriginGuard, McpTokenGuard, RateLimitGuard(LIMIT, TOO_MANY_REQUESTS), JsonRpcMessageGuard),
  );
}
