import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport, type Tool } from '@modelcontextprotocol/client';
import type { ErrorResponse } from '@merchant-connectivity/sdk';
import { EXIT, Failure } from './failures.js';
import { fetchByProxy, USER_AGENT } from './http.js';
import packageFile from '../package.json' with { type: 'json' };

/** A JSON-RPC error of the connector. Its data is the error body of the API without the message. */
interface RpcError {
  readonly error?: { readonly message?: string; readonly data?: Partial<ErrorResponse> };
}

/** Milliseconds. */
const RETRY_DELAY = 500;
const CHECK_ADDRESS = 'Check the address of the agent connector (MCS_CONNECTOR_URL).';

function redirectOf(url: string, location: string): string {
  const target = URL.canParse(location, url) ? new URL(location, url).href : location;
  return `${new URL(url).origin} redirects the request to ${target}. Nothing was sent there.`;
}

function isCall(init: RequestInit | undefined): boolean {
  return typeof init?.body === 'string' && init.body.includes('"tools/call"');
}

/** Uses the agent connector as an agent does. */
export class Connector {
  /** The last request, if it failed. The errors of the client lack parts of the response. */
  private failure: Failure | undefined;
  private requestId: string | undefined;

  constructor(
    private readonly url: string,
    private readonly token: string,
  ) {}

  /** @throws Failure */
  async tools(): Promise<Tool[]> {
    const { tools } = await this.connected((client) => client.listTools());
    return tools;
  }

  /**
   * Returns the structured content of a tool's result.
   *
   * @throws Failure also if the result is an error
   */
  async call(name: string, input: Record<string, unknown>): Promise<unknown> {
    const { isError, structuredContent, content } = await this.connected((client) =>
      client.callTool({ name, arguments: input }),
    );
    if (!isError) return structuredContent;
    const [first] = content;
    throw this.failureOf(JSON.parse(first?.type === 'text' ? first.text : '{}') as Partial<ErrorResponse>);
  }

  private async connected<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    const client = new Client(
      { name: 'mcs', version: packageFile.version },
      { versionNegotiation: { mode: 'auto' } },
    );
    const transport = new StreamableHTTPClientTransport(new URL(this.url), {
      requestInit: {
        headers: { Authorization: `Bearer ${this.token}`, 'User-Agent': USER_AGENT },
        redirect: 'manual',
      },
      fetch: (url, init) => this.fetch(url, init),
    });
    try {
      await client.connect(transport);
      return await work(client);
    } catch (error) {
      throw this.failure ?? new Failure((error as Error).message);
    } finally {
      await client.close();
    }
  }

  private async fetch(url: string | URL, init?: RequestInit): Promise<Response> {
    const response = await this.attempt(url, init);
    this.requestId = response.headers.get('x-request-id') ?? undefined;
    if (response.ok) {
      this.failure = undefined;
    } else {
      const { error = {} } = (await response
        .clone()
        .json()
        .catch(() => ({}))) as RpcError;
      const location = response.headers.get('location');
      const redirect = location === null ? undefined : redirectOf(String(url), location);
      this.failure = this.failureOf(
        { ...error.data, error_message: redirect ?? error.message },
        response.status,
      );
    }
    return response;
  }

  /** Repeats a request that a proxy answered, or nobody, unless it calls a tool, which may have an effect. */
  private async attempt(
    url: string | URL,
    init: RequestInit | undefined,
    retries = isCall(init) ? 0 : 2,
  ): Promise<Response> {
    try {
      const response = await fetchByProxy(url, init);
      if (retries === 0 || ![502, 503, 504].includes(response.status)) return response;
      await response.body?.cancel();
    } catch (error) {
      if (retries === 0) throw this.noResponse(error as Error);
    }
    await sleep(RETRY_DELAY);
    return this.attempt(url, init, retries - 1);
  }

  private noResponse(error: Error): Error {
    const { message, code } = (error.cause ?? error) as NodeJS.ErrnoException;
    const reason = message || String(code);
    this.failure = new Failure(`The agent connector did not respond: ${reason}`, EXIT.failure, CHECK_ADDRESS);
    return error;
  }

  /** @param status undefined if the response itself is a success */
  private failureOf(
    { error_message: message, error_code: code, retry_after: wait }: Partial<ErrorResponse>,
    status?: number,
  ): Failure {
    const isOtherService = status === 401 || status === 404 || status === 405;
    return new Failure(
      message ??
        `The response with the status ${status} does not come from the agent connector, but from a proxy or another server.`,
      EXIT.failure,
      wait === undefined ? (isOtherService ? CHECK_ADDRESS : undefined) : `Retry in ${wait} s.`,
      {
        ...(status !== undefined && { status }),
        ...(code && { error_code: code }),
        ...(this.requestId && { request_id: this.requestId }),
      },
    );
  }
}
