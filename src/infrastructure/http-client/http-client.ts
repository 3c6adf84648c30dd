import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { maskedUrl } from '../logging/index.js';
import { Clock, SECOND } from '../time/index.js';
import { SpanKind, SpanStatusCode, Tracing, type Span } from '../tracing/index.js';
import { Connection, type AnswerHead } from './connection.js';
import { Connector } from './connector.js';
import { HttpClientConfiguration } from './http-client.configuration.js';
import { IdleConnections } from './idle-connections.js';
import { validatePublicUrl, validateUrl, type UrlProblem } from './public-url.js';
import { retryAfterSeconds } from './retry-after.js';
import { Slots } from './slots.js';
import { Stopwatch, type RequestPhases } from './stopwatch.js';
import { rejectOnAbort } from './time-limit.js';
import {
  exchangeFailure,
  FORBIDDEN_URL,
  isUnexpectedError,
  NO_ANSWER,
  type TransportFailure,
} from './transport-failure.js';

/** Milliseconds after which an exchange is over, whatever the receiver does (specification, "Delivery"). */
const DEADLINE = 10 * SECOND;
const CONNECTIONS = 4;

export interface OutgoingRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Requests to one origin at once, at most: 4 unless it says otherwise. Others wait, within their deadline. */
  readonly connections?: number;
}

export interface OutgoingResult {
  /** 0: no answer came. */
  readonly statusCode: number;
  /** Null when an answer came, whatever its status. */
  readonly failure: TransportFailure | null;
  /** A sentence for the receiver's owner: no address, no internals. */
  readonly explanation: string | null;
  /** What `Retry-After` asks for, at most an hour. */
  readonly retryAfterSeconds: number | null;
  readonly phases: RequestPhases;
}

/** Sends requests to addresses that strangers chose. */
@Injectable()
export class HttpClient implements OnApplicationShutdown {
  /** Milliseconds; a property so that a test need not wait for ten seconds. */
  readonly deadline: number = DEADLINE;
  private readonly logger = new Logger('Webhook sending');
  private readonly connector: Connector;
  private readonly slots = new Slots();
  private readonly idle = new IdleConnections();
  private readonly underWay = new Set<Promise<void>>();

  constructor(
    private readonly configuration: HttpClientConfiguration,
    private readonly clock: Clock,
    private readonly tracing: Tracing,
  ) {
    this.connector = new Connector(configuration);
  }

  /** Why nothing may be sent to the URL under this configuration, by its spelling; `undefined`: it may. */
  faultOf(url: string): UrlProblem | undefined {
    return this.configuration.allowsAnyTarget ? validateUrl(url) : validatePublicUrl(url);
  }

  /**
   * POST; never rejects, and is over after 10 s whatever the receiver does. It carries no `traceparent`: receivers are
   * strangers, whom our traces tell nothing that they need.
   */
  post(request: OutgoingRequest): Promise<OutgoingResult> {
    const options = () => ({
      kind: SpanKind.CLIENT,
      attributes: { 'http.request.method': 'POST', 'url.full': maskedUrl(request.url) },
    });
    return this.tracing.inSpan('POST', options, async (span) => {
      const result = await this.send(request);
      if (span) describe(span, result);
      return result;
    });
  }

  private async send(request: OutgoingRequest): Promise<OutgoingResult> {
    const stopwatch = new Stopwatch();
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(NO_ANSWER), this.deadline);
    // The status decides, whatever becomes of the body.
    const heads: AnswerHead[] = [];
    const exchange = this.exchange(request, stopwatch, deadline.signal, (head) => heads.push(head));
    this.underWay.add(exchange);
    // The race is ours: not every step heeds the signal at once.
    const error: unknown = await rejectOnAbort(exchange, deadline.signal).catch((reason: unknown) => reason);
    clearTimeout(timer);
    void exchange.catch(() => undefined).finally(() => this.underWay.delete(exchange));
    return heads[0] === undefined ? this.failed(error, stopwatch) : this.answered(heads[0], stopwatch);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.close();
  }

  /** Lets what is under way come to its end, and keeps no connection any more. */
  async close(): Promise<void> {
    this.idle.close();
    await Promise.allSettled(this.underWay);
  }

  private async exchange(
    request: OutgoingRequest,
    stopwatch: Stopwatch,
    signal: AbortSignal,
    onHead: (head: AnswerHead) => void,
  ): Promise<void> {
    if (this.faultOf(request.url) !== undefined) throw FORBIDDEN_URL;
    const url = new URL(request.url);
    const release = await this.slots.take(url.origin, request.connections ?? CONNECTIONS, signal);
    const sendOver = async (connection: Connection): Promise<void> => {
      try {
        const path = `${url.pathname}${url.search}`;
        const { head, finish } = await stopwatch.measure('firstByte', () =>
          connection.send({ path, headers: request.headers, body: request.body }, signal),
        );
        onHead(head);
        await finish();
      } finally {
        this.idle.keep(connection);
      }
    };
    try {
      const kept = this.idle.take(url.origin);
      if (kept !== undefined) {
        try {
          return await sendOver(kept);
        } catch (error) {
          // The receiver has probably closed it in the meantime, which is nobody's failure: once more, anew.
          // Receivers know a repeated request by its `webhook-id` (RFC 9110, section 9.2.2).
          if (signal.aborted) throw error;
        }
      }
      const connection = new Connection(url.origin, await this.connector.open(url, stopwatch, signal));
      connection.onClosed(() => this.idle.remove(connection));
      await sendOver(connection);
    } finally {
      release();
    }
  }

  private answered({ statusCode, retryAfter }: AnswerHead, stopwatch: Stopwatch): OutgoingResult {
    return {
      statusCode,
      failure: null,
      explanation: null,
      retryAfterSeconds: retryAfterSeconds(retryAfter, this.clock.milliseconds()),
      phases: stopwatch.read(),
    };
  }

  private failed(error: unknown, stopwatch: Stopwatch): OutgoingResult {
    if (isUnexpectedError(error)) this.logger.error(error);
    const { failure, explanation } = exchangeFailure(error);
    return { statusCode: 0, failure, explanation, retryAfterSeconds: null, phases: stopwatch.read() };
  }
}

function describe(span: Span, { statusCode, failure, phases }: OutgoingResult): void {
  const { dns, connect, tls, firstByte } = phases;
  for (const [phase, took] of Object.entries({ dns, connect, tls, first_byte: firstByte })) {
    if (took !== null) span.setAttribute(`mcs.phase.${phase}_ms`, took);
  }
  if (failure === null) span.setAttribute('http.response.status_code', statusCode);
  if (failure === null && statusCode < 400) return;
  span.setAttribute('error.type', failure ?? String(statusCode)).setStatus({ code: SpanStatusCode.ERROR });
}
