import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Client, Pool, type Dispatcher } from 'undici';
import { BoundedCache } from '../caching/index.js';
import { maskedUrl } from '../logging/index.js';
import { Clock, MINUTE, SECOND } from '../time/index.js';
import { SpanKind, SpanStatusCode, Tracing, type Span } from '../tracing/index.js';
import { Connector } from './connector.js';
import { rejectOnAbort, Stopwatch, type RequestPhases } from './stopwatch.js';
import { guarded } from './guarded-socket.js';
import { HttpClientConfiguration } from './http-client.configuration.js';
import { outgoingHeaders } from './service-client.js';
import { validatePublicUrl, validateUrl, type UrlProblem } from './public-url.js';
import { discard, readDocument, readText, type ResponseText } from './response.js';
import { retryAfterSeconds } from './retry-after.js';
import {
  codeOf,
  exchangeError,
  FORBIDDEN_URL,
  isUnexpectedError,
  timeoutIn,
  withSeconds,
  type Fault,
  type TransportFailure,
} from './transport-error.js';

/** Milliseconds after which an attempt ends, whatever the receiver does (specification, "Delivery"). */
const DEADLINE = 10 * SECOND;
const CONNECTIONS_PER_ORIGIN = 4;
/** Maximum number of connection pools kept open; there may be thousands of receivers. */
const MAX_ORIGINS = 256;
/** Milliseconds. An older connection could use an address that the host name no longer resolves to. */
const MAX_CONNECTION_AGE = MINUTE;
/** Bytes of a response body that are read, so that the connection can be reused. */
const MAX_BODY_BYTES = 16 * 1024;

/**
 * Connections for documents of one origin. A server that responds slowly to some requests must not delay the others: many
 * customers of an identity provider share its origin.
 */
const CONNECTIONS_FOR_DOCUMENTS = 8;

/** How a request is sent, and what of its response is read. */
interface Exchange {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
  readonly connections: number;
  readonly wantsText: (statusCode: number) => boolean;
  /** Reads a text for which `wantsText` asks. */
  readonly read: typeof readText;
  readonly maxBytes: number;
  /** Milliseconds for the whole exchange. */
  readonly deadline: number;
}

export interface DocumentRequest {
  readonly url: string;
  /** Default: `Accept` for JSON. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes. A longer document is returned incomplete. */
  readonly maxBytes: number;
  /** Milliseconds. */
  readonly deadline: number;
}

export interface OutgoingRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Maximum number of connections to the origin. Further requests wait, within their deadline. Default: 4. */
  readonly connections?: number;
  /** Whether the text of a response with this status is returned. Default: never. */
  readonly wantsText?: (statusCode: number) => boolean;
  /** Bytes of that text. Default: 16 KiB. */
  readonly maxBytes?: number;
}

export interface OutgoingResult {
  /** 0 if there was no response. */
  readonly statusCode: number;
  /** Null if there was a response, whatever its status. */
  readonly failure: TransportFailure | null;
  readonly fault: Fault | null;
  /** A sentence for the owner of the receiver, without addresses or internals. */
  readonly explanation: string | null;
  /** From the `Retry-After` header, at most an hour. */
  readonly retryAfterSeconds: number | null;
  /** The beginning of the body, at most `maxBytes`; null if it is not wanted, or not text. */
  readonly text: ResponseText | null;
  /** Why a document cannot be used, whether it did not arrive or cannot be read. Null if its text is complete. */
  readonly problem: string | null;
  readonly cacheControl: string | null;
  readonly phases: RequestPhases;
}

const NO_RESPONSE = {
  statusCode: 0,
  failure: null,
  fault: null,
  explanation: null,
  retryAfterSeconds: null,
  text: null,
  problem: null,
  cacheControl: null,
};

interface RequestOptions extends Dispatcher.RequestOptions<Stopwatch> {
  readonly signal: AbortSignal;
  readonly opaque: Stopwatch;
}

/** Exposes the current request to the `connect` callback. A client handles one request at a time. */
class ReceiverClient extends Client {
  declare currentRequest: RequestOptions;

  override dispatch(options: RequestOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.currentRequest = options;
    if (this.stats.connected) options.opaque.enter('firstByte');
    return super.dispatch(options, handler);
  }
}

/** Sends requests to URLs that clients of the service chose and that may be hostile. */
@Injectable()
export class HttpClient implements OnApplicationShutdown {
  /** Milliseconds. A property so that tests can shorten it. */
  readonly deadline: number = DEADLINE;
  private readonly logger = new Logger('Outbound requests');
  private readonly connector: Connector;
  /** Closing a pool lets its requests finish. */
  private readonly pools = new BoundedCache<Pool>({
    max: MAX_ORIGINS,
    ttl: MAX_CONNECTION_AGE,
    dispose: (pool) => {
      const closing = pool.close().finally(() => this.closing.delete(closing));
      this.closing.add(closing);
    },
  });
  private readonly closing = new Set<Promise<void>>();

  constructor(
    private readonly configuration: HttpClientConfiguration,
    private readonly clock: Clock,
    private readonly tracing: Tracing,
  ) {
    this.connector = new Connector(configuration);
  }

  /**
   * Returns why the configuration forbids requests to the URL. Checks only the text of the URL and does not resolve the
   * host name.
   */
  urlProblem(url: string): UrlProblem | undefined {
    return this.configuration.allowsAnyTarget ? validateUrl(url) : validatePublicUrl(url);
  }

  /**
   * Sends a POST request. Never rejects, and always resolves within 10 seconds. The request carries no
   * `traceparent`, because receivers are third parties.
   */
  post(request: OutgoingRequest): Promise<OutgoingResult> {
    return this.send({
      method: 'POST',
      connections: CONNECTIONS_PER_ORIGIN,
      wantsText: () => false,
      read: readText,
      maxBytes: MAX_BODY_BYTES,
      deadline: this.deadline,
      ...request,
    });
  }

  /**
   * Sends a GET request for a document, by default JSON, under the same rules. Does not follow redirects. Reads a document of
   * any media type, and also compressed, because not every server does what `Accept` and `Accept-Encoding` ask for.
   */
  async getDocument(request: DocumentRequest): Promise<OutgoingResult> {
    const result = await this.send({
      method: 'GET',
      headers: { accept: 'application/json' },
      body: null,
      connections: CONNECTIONS_FOR_DOCUMENTS,
      wantsText: (status) => status === 200,
      read: readDocument,
      ...request,
    });
    const { statusCode, problem } = result;
    const explanation = withSeconds(result.explanation, request.deadline / SECOND);
    const isMissing = statusCode !== 0 && statusCode !== 200;
    const reason = isMissing ? `The server responded with status ${statusCode}.` : (explanation ?? problem);
    const isLate = result.text?.isComplete === false && result.phases.total >= request.deadline;
    return { ...result, explanation, problem: isLate ? 'The document did not arrive in time.' : reason };
  }

  private send(request: Exchange): Promise<OutgoingResult> {
    const { method, url } = request;
    const options = () => ({
      kind: SpanKind.CLIENT,
      attributes: { 'http.request.method': method, 'url.full': maskedUrl(url) },
    });
    return this.tracing.inSpan(method, options, async (span) => {
      const stopwatch = new Stopwatch();
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(timeoutIn(stopwatch.phase)), request.deadline);
      let result: OutgoingResult;
      try {
        const { statusCode, headers, body } = await rejectOnAbort(
          this.exchange(request, stopwatch, deadline.signal),
          deadline.signal,
        );
        stopwatch.stop();
        // The status counts, even if the body is too long, too slow or cut off.
        const { text, problem } = request.wantsText(statusCode)
          ? await request.read(headers, body, request.maxBytes)
          : await discard(body, MAX_BODY_BYTES);
        // Give undici one turn of the event loop to notice that the connection is free or closed.
        await nextTurn();
        const now = this.clock.milliseconds();
        result = {
          ...NO_RESPONSE,
          statusCode,
          retryAfterSeconds: retryAfterSeconds([headers['retry-after']].flat()[0], now),
          text,
          problem,
          cacheControl: [headers['cache-control']].flat()[0] ?? null,
          phases: stopwatch.read(),
        };
      } catch (error) {
        if (isUnexpectedError(error)) this.logger.error(error);
        const { failure, explanation, fault } = exchangeError(error);
        result = { ...NO_RESPONSE, failure, explanation, fault, phases: stopwatch.read() };
      } finally {
        clearTimeout(timer);
      }
      if (span) describe(span, result);
      return result;
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.close();
  }

  /** Lets the current requests finish, then closes all connections. */
  async close(): Promise<void> {
    this.pools.clear();
    await Promise.all(this.closing);
  }

  private async exchange(
    request: Exchange,
    stopwatch: Stopwatch,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData<Stopwatch>> {
    if (this.urlProblem(request.url) !== undefined) throw FORBIDDEN_URL;
    const { origin, pathname, search } = new URL(request.url);
    const options: RequestOptions = {
      method: request.method,
      path: `${pathname}${search}`,
      headers: outgoingHeaders(request.headers),
      body: request.body,
      signal,
      opaque: stopwatch,
    };
    const { connections } = request;
    const key = `${connections} ${origin}`;
    let pool = this.pools.get(key);
    if (!pool) {
      pool = new Pool(origin, { connections, factory: () => this.newClient(origin) });
      this.pools.set(key, pool);
    }
    try {
      return await pool.request(options);
    } catch (error) {
      const { connect, firstByte } = stopwatch.read();
      const isReusedConnection = connect === null && firstByte !== null;
      // Only `EPIPE` proves that the receiver closed the idle connection before the request arrived (`GuardedSocket`).
      if (signal.aborted || !isReusedConnection || codeOf(error) !== 'EPIPE') throw error;
      return this.newClient(origin).request({ ...options, reset: true });
    }
  }

  private newClient(origin: string): Client {
    const client: ReceiverClient = new ReceiverClient(origin, {
      connect: (_, callback) => {
        const { opaque: stopwatch, signal } = client.currentRequest;
        this.connector.open(new URL(origin), stopwatch, signal).then(
          (socket) => {
            stopwatch.enter('firstByte');
            callback(null, guarded(socket, stopwatch.duration('connect')));
          },
          (error: Error) => callback(error, null),
        );
      },
      keepAliveMaxTimeout: MAX_CONNECTION_AGE,
      // Disabled: `deadline` limits the whole request, whereas undici's body timeout restarts with every chunk.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    return client;
  }
}

function describe(span: Span, { statusCode, failure, phases }: OutgoingResult): void {
  const { dns, connect, tls, firstByte } = phases;
  for (const [phase, duration] of Object.entries({ dns, connect, tls, first_byte: firstByte })) {
    if (duration !== null) span.setAttribute(`mcs.phase.${phase}_ms`, duration);
  }
  if (failure === null) span.setAttribute('http.response.status_code', statusCode);
  if (failure === null && statusCode < 400) return;
  span.setAttribute('error.type', failure ?? String(statusCode)).setStatus({ code: SpanStatusCode.ERROR });
}
