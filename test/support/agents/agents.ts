import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { IssuedCredentials } from '../../../src/modules/api-clients/index.js';
import { encoded, send } from '../http/http.js';
import { rememberSecret } from '../runner/run-directory.js';
import type { TestApp } from '../test-app.js';

/** The tools of the agent connector, in the order of its list. */
export const ALL_TOOLS = [
  'get_connection_info',
  'search_merchants',
  'search_detected_accounts',
  'list_merchant_accounts',
  'create_sign_in_link',
  'list_sign_in_links',
  'get_sign_in_link',
  'cancel_sign_in_link',
];

/** The result of a tool, or the error that it reports. */
export interface ToolResult {
  readonly isError: boolean;
  readonly content: Readonly<Record<string, unknown>>;
}

/** An agent that is connected with an unmodified client. */
export interface Agent {
  readonly revision: string | undefined;
  tools(): Promise<string[]>;
  call(name: string, input?: Record<string, unknown>): Promise<ToolResult>;
  /** Calls a tool that must succeed, and returns its structured content. */
  result<Content = Record<string, unknown>>(name: string, input?: Record<string, unknown>): Promise<Content>;
  close(): Promise<void>;
}

export type Connect = (baseUrl: string, token: string) => Promise<Agent>;

interface AnyClient {
  connect(transport: never): Promise<void>;
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

interface AnyResult {
  readonly isError?: boolean;
  readonly structuredContent?: Record<string, unknown>;
  readonly content: { readonly text: string }[];
}

const INFO = { name: 'test', version: '1.0.0' };

/** The clients, by what tests call them. They compare results with the output schemas of the tools. */
export const CLIENTS: Readonly<Record<string, Connect>> = {
  'client 2.4 with revision 2026-07-28': async (baseUrl, token) => {
    const client = new Client(INFO, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new StreamableHTTPClientTransport(endpointOf(baseUrl), bearing(token)));
    return agentOf(client, client.getNegotiatedProtocolVersion());
  },
  'client 2.4 with revision 2025-11-25': async (baseUrl, token) => {
    const client = new Client(INFO);
    await client.connect(new StreamableHTTPClientTransport(endpointOf(baseUrl), bearing(token)));
    return agentOf(client, client.getNegotiatedProtocolVersion());
  },
  'client 1.x with revision 2025-11-25': async (baseUrl, token) => {
    const client = new OldClient(INFO);
    const transport = new OldTransport(endpointOf(baseUrl), bearing(token));
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    return agentOf(client as unknown as AnyClient, transport.protocolVersion);
  },
};

const endpointOf = (baseUrl: string): URL => new URL('/mcp', baseUrl);

const bearing = (token: string) => ({ requestInit: { headers: { Authorization: `Bearer ${token}` } } });

/** Returns the agent that uses this client. */
export function agentOf(client: Omit<AnyClient, 'connect'>, revision: string | undefined): Agent {
  const call = async (name: string, input: Record<string, unknown> = {}): Promise<ToolResult> => {
    const result = (await client.callTool({ name, arguments: input })) as AnyResult;
    const text = JSON.parse(result.content[0]?.text ?? '{}') as Record<string, unknown>;
    if (result.structuredContent) expect(text).toEqual(result.structuredContent);
    return { isError: result.isError ?? false, content: text };
  };
  return {
    revision,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call,
    result: async <Content>(name: string, input?: Record<string, unknown>) => {
      const { isError, content } = await call(name, input);
      expect({ isError, content }).toMatchObject({ isError: false });
      return content as Content;
    },
    close: () => client.close(),
  };
}

export const PHONE_NUMBER = '+12125550123';

/** Creates an MCP token for a user, with a phone number unless the options say otherwise. */
export async function mcpToken(
  service: TestApp,
  externalUserId: string,
  {
    as = service.development,
    ...more
  }: { as?: IssuedCredentials; phone_number?: string | null; expires_in?: number } = {},
): Promise<string> {
  const body = { external_user_id: externalUserId, phone_number: PHONE_NUMBER, ...more };
  const created = await service.request<{ token: string }>('/mcp/tokens/create', { body, as });
  rememberSecret(created.body.token);
  return created.body.token;
}

export interface RpcResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The JSON-RPC message; undefined if the response has no body. */
  readonly message: RpcMessage | undefined;
}

export interface RpcMessage {
  readonly jsonrpc: string;
  readonly id?: unknown;
  readonly result?: Record<string, unknown>;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: Record<string, unknown>;
  };
}

/** Sends a body to the connector, for what clients cannot express. A string is sent unchanged. */
export async function sendRpc(
  { baseUrl }: Pick<TestApp, 'baseUrl'>,
  body: unknown,
  headers: Record<string, string> = {},
  path = '/mcp',
): Promise<RpcResponse> {
  const response = await send(`${baseUrl}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: encoded(body),
  });
  // Revisions up to 2025-11-25 get a stream with one message.
  const { status, text } = response;
  const json = text.startsWith('event:') ? /\ndata: ([^\n]*)/.exec(text)?.[1] : text;
  return {
    status,
    headers: response.headers,
    message: json ? (JSON.parse(json) as RpcMessage) : undefined,
  };
}

/** The `_meta` of messages of the current revision. */
export const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** Returns the message of a tool call. */
export const toolCall = (name: string, input: object = {}, id: number | string = 1) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: input },
});
