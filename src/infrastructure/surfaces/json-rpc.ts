import { Catch, Injectable, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { INVALID_FIELD, type ApiError } from '../errors/index.js';
import { ExceptionFilter, JsonBodyGuard, NOT_JSON, requestContext } from '../http/index.js';

/** The parts of a JSON-RPC message that the connector reads itself. All of them are unchecked input. */
export interface JsonRpcMessage {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
}

/** JSON-RPC 2.0, section 5.1, and the range for errors of the implementation. */
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
export const METHOD_NOT_FOUND = -32_601;
export const INVALID_PARAMS = -32_602;
const INTERNAL_ERROR = -32_603;
const SERVER_ERROR = -32_000;

/** Characters of an ID, which every response repeats, and of a method. Both are far shorter in practice. */
const MAX_LENGTH = 256;

/** Returns the ID of a message for its response: null if the message has none that is valid. */
export function idOf(message: unknown): string | number | null {
  const id = (message as JsonRpcMessage | undefined)?.id;
  return (typeof id === 'string' && id.length <= MAX_LENGTH) || typeof id === 'number' ? id : null;
}

/** Returns the name of the tool if the message calls one. */
export function calledTool(message: unknown): { readonly name: unknown } | undefined {
  const { method, params } = (message ?? {}) as JsonRpcMessage;
  if (method !== 'tools/call') return undefined;
  return { name: (params as { readonly name?: unknown } | null | undefined)?.name };
}

/** Any other name is the agent's own text, which may contain secrets. */
const TOOL_NAME = /^[a-z][a-z_]{0,63}$/;

/**
 * Reads the message, after the token was checked. Batches are refused: the protocol dropped them in revision 2025-06-18, and the
 * limits and the log would count a batch as one call. Only tool calls get an entry in the request log:
 * `McpTokenAuthGuard` has excluded the request, because the kind of message was not known then.
 */
@Injectable()
export class JsonRpcMessageGuard extends JsonBodyGuard {
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    await super.canActivate(context);
    const request = context.switchToHttp().getRequest<Request>();
    const message = request.body as Partial<Record<keyof JsonRpcMessage, unknown>>;
    for (const name of ['id', 'method'] as const) {
      const value = message[name];
      if (typeof value === 'string' && value.length > MAX_LENGTH)
        throw INVALID_FIELD.error(`The ${name} must not be longer than ${MAX_LENGTH} characters.`);
    }
    // Clients and models that have nothing to say send null, for all parameters or for some.
    if (message.params === null) delete message.params;
    // A long text has a member for each character.
    if (typeof message.params === 'object') {
      const params = message.params as Record<string, unknown>;
      for (const [name, value] of Object.entries(params)) if (value === null) delete params[name];
    }
    const call = calledTool(message);
    const attribution = requestContext(request);
    attribution.isRecorded = call !== undefined;
    if (typeof call?.name === 'string' && TOOL_NAME.test(call.name)) attribution.tool = call.name;
    return true;
  }
}

/** Returns an error as a JSON-RPC error, with the error body of the API as `data`. */
export function jsonRpcErrorOf(error: ApiError, { body }: Request): object {
  const { error_message: message, ...data } = error.body;
  return { jsonrpc: '2.0', id: idOf(body), error: { code: codeOf(error), message, data } };
}

/** Sends the errors of the connector as JSON-RPC errors. */
@Catch()
export class JsonRpcExceptionFilter extends ExceptionFilter {
  protected override bodyOf(error: ApiError, request: Request): object {
    return jsonRpcErrorOf(error, request);
  }
}

function codeOf({ status, message }: ApiError): number {
  if (status === 400) return message.startsWith(NOT_JSON) ? PARSE_ERROR : INVALID_REQUEST;
  return status === 500 ? INTERNAL_ERROR : SERVER_ERROR;
}
