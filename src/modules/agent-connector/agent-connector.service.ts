import { Injectable, Logger } from '@nestjs/common';
import {
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  PROTOCOL_VERSION_META_KEY,
  Server,
  type McpHttpHandler,
} from '@modelcontextprotocol/server';
import type { Request as ExpressRequest, Response as ExpressResponse } from 'express';
import { currentAgentOf } from '../../infrastructure/auth/index.js';
import { PublicAddress, requestContext } from '../../infrastructure/http/index.js';
import { VERSION } from '../../infrastructure/project-files/index.js';
import {
  calledTool,
  idOf,
  messagesIn,
  INVALID_PARAMS,
  METHOD_NOT_FOUND,
  type JsonRpcMessage,
} from '../../infrastructure/surfaces/index.js';
import { HOUR, SECOND } from '../../infrastructure/time/index.js';
import { argumentsIn } from './tools/tool-arguments.js';
import { ToolCalls, type MessageContext } from './tools/tool-calls.js';
import { sessionHeadersFor, wayOfElicitation } from './tools/url-elicitation.js';
import { Tools } from './tools/tool-registry.js';

/** Characters of each text in an error. */
const MAX_LENGTH = 300;
/** The JSON-RPC message in a response: the whole body, or the data of an event. */
const MESSAGE = /(?<=^|\ndata: )(?:\{[^\n]*\}|\[[^\n]*\])(?=\n|$)/;
/** How the SDK lists the problems that Zod found. No message begins with a text of the client. */
const ZOD_ISSUES = /^(?:Invalid [\w/]+ request: )?(\[\s*\{.*\}\s*\])$/s;

/** Returns the JSON-RPC message in a response. */
function messageIn(response: string): string {
  return MESSAGE.exec(response)?.[0] ?? response;
}

interface ProtocolErrorMessage {
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/**
 * Returns the response of the SDK in which errors are short sentences. The SDK repeats the names and values of a message at any
 * length, and describes invalid parameters, in the message of an error, as a JSON array.
 */
function withReadableError(response: string): string {
  // Few responses are errors. In the text of a result, quotes are escaped.
  if (!response.includes('"error":{"code":')) return response;
  return response.replace(MESSAGE, (json) => {
    const { error, ...message } = JSON.parse(json) as ProtocolErrorMessage;
    if (!error) return json;
    return JSON.stringify({ ...message, error: { ...error, ...describeIssues(error.message) } }, shortened);
  });
}

function describeIssues(message: string): { readonly code: number; readonly message: string } | undefined {
  const [, json] = ZOD_ISSUES.exec(message) ?? [];
  if (json === undefined) return undefined;
  const [issue] = JSON.parse(json) as { readonly path: readonly string[]; readonly message: string }[];
  const problem = issue && `${issue.path.join('.')}: ${issue.message}`;
  return { code: INVALID_PARAMS, message: `The params are not valid: ${problem}` };
}

function shortened(_key: string, value: unknown): unknown {
  if (typeof value !== 'string' || value.length <= MAX_LENGTH) return value;
  return `${value.slice(0, MAX_LENGTH).toWellFormed()}…`;
}

const INSTRUCTIONS =
  'These tools act for one user of a company that is connected to the Merchant Connectivity platform. They tell which ' +
  'merchants the user has accounts with, and let the user connect such an account. Only the user can sign in: create a ' +
  'sign-in link, tell the user that a text message with the link has been sent, or give the user its URL, and check the state of ' +
  'the link later. ' +
  'Never ask the user for a password or a one-time code of a merchant.';

/**
 * The list of tools does not change while a token is valid, but a new release can change it. With one hour, a client seldom
 * requests the list twice in a conversation.
 */
const CACHE_HINT = { ttlMs: HOUR, cacheScope: 'private' } as const;
const CACHE_HINTS = { 'tools/list': CACHE_HINT, 'server/discover': CACHE_HINT };

/** The headers of the protocol. The SDK needs no others, and does not get the token. */
const PROTOCOL_HEADER = /^(?:accept|content-type|mcp-(?!session-id).*)$/;

const REVISION = 'MCP-Protocol-Version';
const JSON_TYPE = 'application/json';
/** Clients of earlier revisions get the message as the only event of a stream. */
const STREAM_TYPE = 'text/event-stream';

/**
 * Serves the Model Context Protocol, in its current revision and in those before it, with a server for each message: any
 * replica can handle any message of a conversation.
 *
 * 1. `serve` gives the message to the handler of the SDK, with a `MessageContext` as `authInfo.extra`.
 * 2. The handler gets a server for this context from `serverFor`, and lets it process the message.
 * 3. `serve` sends the response that the handler returns.
 */
@Injectable()
export class AgentConnectorService {
  private readonly logger = new Logger('AgentConnector');
  private readonly handler: McpHttpHandler;

  constructor(
    private readonly tools: Tools,
    private readonly calls: ToolCalls,
    private readonly address: PublicAddress,
  ) {
    this.handler = createMcpHandler(
      ({ authInfo }) => this.serverFor(authInfo?.extra as unknown as MessageContext),
      // Such errors are mistakes of clients, which get them as responses.
      { onerror: ({ message }) => this.logger.debug(message) },
    );
  }

  /**
   * Responds to the message that `JsonRpcMessageGuard` has read, or to the messages of a batch, in their order.
   *
   * @throws ApiError INSUFFICIENT_SCOPE before any message of a batch has an effect
   */
  async serve(request: ExpressRequest, response: ExpressResponse): Promise<void> {
    const messages = messagesIn(request.body);
    const contexts: MessageContext[] = [];
    for (const message of messages) contexts.push(await this.contextOf(message, request, response));
    const replies: Reply[] = [];
    for (const [index, message] of messages.entries())
      replies.push(await this.reply(request, message, contexts[index] as MessageContext));
    const { status, contentType, text } = Array.isArray(request.body)
      ? joined(replies)
      : (replies[0] as Reply);
    const wantsJson = contentType === STREAM_TYPE && !request.accepts(STREAM_TYPE);
    const body = wantsJson ? messageIn(text) : text;
    if (contentType !== null) response.setHeader('Content-Type', wantsJson ? JSON_TYPE : contentType);
    response.status(status);
    await requestContext(request).recordNow();
    response.end(body);
  }

  private async contextOf(
    message: JsonRpcMessage,
    request: ExpressRequest,
    response: ExpressResponse,
  ): Promise<MessageContext> {
    const agent = currentAgentOf(request);
    const call = calledTool(message);
    const tool = this.tools.find(call?.name);
    const refusal = call && (await this.calls.admit(agent, tool, response));
    response.set(sessionHeadersFor(message));
    const { requestId } = requestContext(request);
    return {
      agent,
      tool,
      requestId,
      refusal,
      elicitation: wayOfElicitation(message, request.get('Mcp-Session-Id')),
      completed: [],
    };
  }

  private async reply(
    request: ExpressRequest,
    message: JsonRpcMessage,
    context: MessageContext,
  ): Promise<Reply> {
    // The SDK would keep the stream open, but no list of tools changes while its token is valid.
    if (message.method === 'subscriptions/listen') {
      const error = { code: METHOD_NOT_FOUND, message: 'The agent connector sends no notifications.' };
      const text = JSON.stringify({ jsonrpc: '2.0', id: idOf(message), error });
      return { status: 404, contentType: `${JSON_TYPE}; charset=utf-8`, text };
    }
    const { agent } = context;
    const result = await this.handler.fetch(toWebRequest(request, message), {
      parsedBody: calledTool(message) ? withReadArguments(message) : message,
      authInfo: {
        token: '',
        clientId: agent.client.clientId,
        scopes: [...agent.scopes],
        expiresAt: agent.expiresAt.getTime() / SECOND,
        extra: { ...context },
      },
    });
    const contentType = result.headers.get('content-type');
    // The tool may still be running until the response has been read.
    const readable = withReadableError(await result.text());
    const takesEvents = contentType === STREAM_TYPE && request.accepts(STREAM_TYPE) !== false;
    const isNotified = context.elicitation === 'error' && takesEvents && !Array.isArray(request.body);
    const events = isNotified ? context.completed : [];
    const text = events.map(completionOf).join('') + readable;
    return { status: result.status, contentType, text };
  }

  private serverFor(context: MessageContext): Server {
    const server = new Server(
      {
        name: 'merchant-connectivity',
        title: 'Merchant Connectivity',
        version: VERSION,
        websiteUrl: this.address.find('platform'),
      },
      {
        capabilities: { tools: {} },
        instructions: INSTRUCTIONS,
        cacheHints: CACHE_HINTS,
        requestState: { verify: (state: string) => this.calls.openState(state, context) },
      },
    );
    server.setRequestHandler('tools/list', async () => ({
      tools: await this.tools.offeredTo(context.agent),
    }));
    server.setRequestHandler('tools/call', ({ params }, { mcpReq }) =>
      this.calls.run(context, params.arguments, {
        id: mcpReq.requestState<string>(),
        responses: mcpReq.inputResponses,
      }),
    );
    return server;
  }
}

/** Returns the event that notifies a client of revision 2025-11-25 that its user has completed the elicitation. */
function completionOf(elicitationId: string): string {
  const message = { jsonrpc: '2.0', method: 'notifications/elicitation/complete', params: { elicitationId } };
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`;
}

interface Reply {
  readonly status: number;
  readonly contentType: string | null;
  readonly text: string;
}

/** Returns the response to a batch (JSON-RPC 2.0, section 6): notifications have none. */
function joined(replies: readonly Reply[]): Reply {
  const texts = replies.map(({ text }) => messageIn(text)).filter((text) => text !== '');
  if (texts.length === 0) return { status: 202, contentType: null, text: '' };
  return { status: 200, contentType: STREAM_TYPE, text: `event: message\ndata: [${texts.join(',')}]\n\n` };
}

/** The SDK would refuse arguments that are not an object, although it can be clear what they mean. */
function withReadArguments(message: JsonRpcMessage): JsonRpcMessage {
  const params = message.params as Readonly<Record<string, unknown>> | null | undefined;
  if (typeof params !== 'object' || params === null) return message;
  return { ...message, params: { ...params, arguments: argumentsIn(params['arguments']) } };
}

/** The URL does not matter to the SDK; one from the request could be invalid. */
function toWebRequest(request: ExpressRequest, { method, params }: JsonRpcMessage): Request {
  const used = Object.entries(request.headers).filter(([name]) => PROTOCOL_HEADER.test(name));
  const headers = new Headers(used as [string, string][]);
  // The SDK looks for the names of both, and would refuse a client that accepts anything, or only one of them.
  if (request.accepts(JSON_TYPE, STREAM_TYPE)) headers.set('Accept', `${JSON_TYPE}, ${STREAM_TYPE}`);
  // `JsonRpcMessageGuard` has read the body.
  headers.set('Content-Type', JSON_TYPE);
  const [revision = '', ...others] = new Set(
    headers
      .get(REVISION)
      ?.split(',')
      .map((each) => each.trim()),
  );
  // Node.js joins the header of a client that sends it twice: once by its library, once by its settings.
  if (others.length === 0) headers.set(REVISION, revision);
  // The message says which revision the client proposes. Some clients name it here, too, before anything is agreed. A client that
  // names it in `_meta`, with its capabilities, uses a revision that has no such method.
  const { _meta: meta = {} } = (params ?? {}) as { readonly _meta?: object };
  const isComplete = [PROTOCOL_VERSION_META_KEY, CLIENT_CAPABILITIES_META_KEY].every((key) => key in meta);
  const begins = method === 'initialize' && !isComplete;
  if (begins || revision === '') headers.delete(REVISION);
  return new Request('http://connector/mcp', { method: 'POST', headers });
}
