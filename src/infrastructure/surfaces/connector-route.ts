import { applyDecorators, UseGuards } from '@nestjs/common';
import { ApiExcludeEndpoint } from '@nestjs/swagger';
import { McpTokenGuard } from '../auth/index.js';
import { OnSurface, OriginGuard } from '../http/index.js';
import { JsonRpcMessageGuard } from '../json-rpc/index.js';
import { ToolCallLimitGuard } from './tool-call-limit.guard.js';

/**
 * A route of the Model Context Protocol. Checks the origin (403) and the token (401) before it reads the body, then the limit
 * of tool calls (429). It is not part of the API document, because JSON-RPC has its own descriptions of methods.
 */
export function ConnectorRoute(): MethodDecorator {
  return applyDecorators(
    OnSurface('connector'),
    ApiExcludeEndpoint(),
    UseGuards(OriginGuard, McpTokenGuard, JsonRpcMessageGuard, ToolCallLimitGuard),
  );
}
