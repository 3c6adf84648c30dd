import { Catch, Injectable, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { agentKeyOf, currentAgentOf } from '../auth/index.js';
import { INVALID_FIELD, TOO_MANY_REQUESTS, type ApiError } from '../errors/index.js';
import {
  ExceptionFilter,
  JsonBodyGuard,
  methodNotAllowed,
  NOT_COMPRESSED,
  NOT_JSON,
  requestContext,
} from '../http/index.js';
import { ConnectorRateLimitConfiguration, perMinute, RateLimiters } from '../rate-limiting/index.js';

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

/** Messages of a batch. A client needs no more than a call of every tool. */
const MAX_BATCH = 20;

/** Returns the messages of a body: the array of a batch, or one message. */
export function messagesIn(body: unknown): readonly UncheckedMessage[] {
  return [body].flat() as UncheckedMessage[];
}

/**
 * Counts all messages. Tool calls also have a lower limit of their own, whose refusal is a result that agents can read: only a
 * client that ignores it, or repeats other messages without end, gets here.
 */
export const CONNECTOR_LIMIT = perMinute(
  'mcp-messages',
  'agent',
  ConnectorRateLimitConfiguration,
  'messagesPerMinute',
);

/** Any other name is the agent's own text, which may contain secrets. */
const TOOL_NAME = /^[a-z][a-z_]{0,63}$/;

/**
 * Reads the message, after the token was checked: clients probe the address with GET or HEAD, and find the metadata in the challenge
 * (401). Batches belong to the revision 2025-03-26; the limits and the log count
 * each of their messages. Only tool calls get an entry in the request log:
 * `McpTokenAuthGuard` has excluded the request, because the kind of message was not known then.
 */
@Injectable()
export class JsonRpcMessageGuard extends JsonBodyGuard {
  protected override readonly acceptsArray = true;

  constructor(private readonly limiters: RateLimiters) {
    super();
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    if (request.method !== 'POST') throw methodNotAllowed(['POST']);
    await super.canActivate(context);
    const messages = messagesIn(request.body);
    if (messages.length > MAX_BATCH)
      throw INVALID_FIELD.error(`A batch must not have more than ${MAX_BATCH} messages.`);
    for (const message of messages) checkMessage(message);
    const limit = this.limiters.limit(CONNECTOR_LIMIT);
    // `RateLimitGuard` has counted the first one.
    for (const _further of messages.slice(1))
      await limit.enforce(agentKeyOf(currentAgentOf(request)), TOO_MANY_REQUESTS);
    const calls = messages.flatMap((message) => calledTool(message) ?? []);
    const [tool, ...furtherTools] = calls.map(({ name }) =>
      typeof name === 'string' && TOOL_NAME.test(name) ? name : undefined,
    );
    const attributed = Object.assign(requestContext(request), { tool, furtherTools });
    if (calls.length > 0) attributed.includeInRequestLog();
    else attributed.excludeFromRequestLog();
    return true;
  }
}

type UncheckedMessage = { -readonly [Member in keyof JsonRpcMessage]: unknown };

/** @throws ApiError INVALID_FIELD */
function checkMessage(message: UncheckedMessage): void {
  for (const name of ['id', 'method'] as const) {
    const value = message[name];
    if (typeof value === 'string' && value.length > MAX_LENGTH)
      throw INVALID_FIELD.error(`The ${name} must not be longer than ${MAX_LENGTH} characters.`);
  }
  for (const name of Object.keys(message)) if (!MEMBERS.has(name)) Reflect.deleteProperty(message, name);
  answerNotification(message);
  // Clients and models that have nothing to say send null, for all parameters or for some. PHP writes an empty object as `[]`.
  if (message.params === null || isEmptyArray(message.params)) delete message.params;
  // A long text has a member for each character.
  if (typeof message.params !== 'object') return;
  const params = message.params as Record<string, unknown>;
  for (const [name, value] of Object.entries(params)) if (value === null) delete params[name];
  dropUnusableMeta(params);
  if (message.method === 'initialize') Object.assign(params, aboutClient(params['capabilities']));
}

/**
 * Treats a notification with an ID as a `ping`: some clients send all messages as requests, and give up if the response is an error. A
 * notification whose ID is null has none.
 */
function answerNotification(message: UncheckedMessage): void {
  if (typeof message.method !== 'string' || !message.method.startsWith('notifications/')) return;
  if (message.id === null) delete message.id;
  else if (message.id !== undefined) Object.assign(message, { method: 'ping', params: null });
}

/** The members of messages (JSON-RPC 2.0, sections 4 and 5). Clients add others, such as a time, which the SDK would refuse. */
const MEMBERS: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params', 'result', 'error']);
/**
 * Returns the properties of the client from its first message that the connector uses. The SDK would refuse the rest in other
 * forms than those of the specification, such as `true` or `[]` for a capability, or no version.
 */
function aboutClient(capabilities: unknown): object {
  const used = declaresUrlElicitation(capabilities) ? { elicitation: { url: {} } } : {};
  return { capabilities: used, clientInfo: { name: 'agent', version: '0' } };
}

/** Returns whether a client declares that it shows URLs to its user (MCP, "Elicitation"). */
export function declaresUrlElicitation(capabilities: unknown): boolean {
  const { elicitation } = (capabilities ?? {}) as {
    readonly elicitation?: { readonly url?: unknown } | null;
  };
  return typeof elicitation?.url === 'object' && elicitation.url !== null;
}

const isEmptyArray = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** Drops a `progressToken` that is none, such as null, because the connector reports no progress, and a `_meta` that is no object. */
function dropUnusableMeta(params: Record<string, unknown>): void {
  const meta = params['_meta'];
  if (typeof meta !== 'object' || Array.isArray(meta)) delete params['_meta'];
  else if (meta !== null && !isProgressToken((meta as Record<string, unknown>)['progressToken']))
    Reflect.deleteProperty(meta, 'progressToken');
}

const isProgressToken = (value: unknown): boolean => typeof value === 'string' || Number.isInteger(value);

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
  const isUnreadable = message.startsWith(NOT_JSON) || message === NOT_COMPRESSED;
  if (status === 400) return isUnreadable ? PARSE_ERROR : INVALID_REQUEST;
  return status === 500 ? INTERNAL_ERROR : SERVER_ERROR;
}
