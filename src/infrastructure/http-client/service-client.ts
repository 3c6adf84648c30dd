import { buildConnector, Pool, type Dispatcher } from 'undici';
import { VERSION } from '../project-files/index.js';
import { guarded } from './guarded-socket.js';
import { rejectOnAbort } from './stopwatch.js';

const DEFAULTS: Readonly<Record<string, string>> = {
  'User-Agent': `MerchantConnectivityService/${VERSION}`,
  // Common firewalls refuse requests without it.
  Accept: '*/*',
  // Responses are read as they are.
  'Accept-Encoding': 'identity',
};

type OutgoingHeaders = Readonly<Record<string, string>>;

/** Returns the headers of a request that leaves, with those that every request has. */
export function outgoingHeaders(headers: OutgoingHeaders): OutgoingHeaders {
  const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const missing = Object.entries(DEFAULTS).filter(([name]) => !names.has(name.toLowerCase()));
  return { ...headers, ...Object.fromEntries(missing) };
}

/** Requests beyond this number wait, within their deadline. */
const CONNECTIONS = 64;
/** Bytes. A longer response is an error. */
const MAX_RESPONSE_SIZE = 64 * 1024;

export interface ServiceRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the URL of the service. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Milliseconds for the whole request. */
  readonly deadline: number;
}

/**
 * Sends requests to one service that the operator has chosen. Its address may be private, and the settings of webhook sending
 * do not apply. Never follows redirects.
 */
export class ServiceClient {
  private readonly base: URL;
  private readonly pool: Pool;

  constructor(url: string) {
    this.base = new URL(url);
    const connect = buildConnector({});
    this.pool = new Pool(this.base.origin, {
      connect: (options, callback) =>
        connect(options, (error, socket) =>
          socket ? callback(null, guarded(socket, 0)) : callback(error ?? new Error('No connection'), null),
        ),
      connections: CONNECTIONS,
      maxResponseSize: MAX_RESPONSE_SIZE,
      // Disabled: the deadline limits the whole request.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** @throws Error if no response of at most 64 KiB arrives before the deadline */
  async send({
    path,
    deadline,
    body,
    headers,
    ...request
  }: ServiceRequest): Promise<{ statusCode: number; text: string }> {
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(new Error('No response arrived in time.')), deadline);
    const options: Dispatcher.RequestOptions = {
      ...request,
      headers: outgoingHeaders(headers),
      ...(body.length > 0 && { body }),
      path: this.base.pathname.replace(/\/+$/, '') + path,
      signal: timeout.signal,
    };
    try {
      return await rejectOnAbort(this.exchange(options), timeout.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the requests in progress. */
  async close(): Promise<void> {
    await this.pool.destroy();
  }

  private async exchange(options: Dispatcher.RequestOptions): Promise<{ statusCode: number; text: string }> {
    const { statusCode, body } = await this.pool.request(options);
    return { statusCode, text: await body.text() };
  }
}
