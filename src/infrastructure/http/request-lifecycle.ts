import type { Server } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import {
  Inject,
  Injectable,
  Logger,
  Optional,
  type BeforeApplicationShutdown,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { HttpAdapterHost, type AbstractHttpAdapter } from '@nestjs/core';
import type { NextFunction, Request, Response } from 'express';
import { SpanKind, Tracing, type Span } from '../tracing/index.js';
import { LinkedList, type Linked } from './linked-list.js';
import {
  openRequestContext,
  RequestRecorder,
  type AttributedClient,
  type OpenRequest,
  type RequestContext,
} from './request-context.js';
import { requestOrigin } from './request-origin.js';
import { endSpan, methodOf, recordedPath, RequestMetrics, routeOf } from './request-telemetry.js';
import { BackgroundTasks, GracefulShutdown } from './startup-and-shutdown.js';

/** Milliseconds that a shutdown waits for open connections, then for handlers, then for background tasks. */
const CONNECTIONS_TIMEOUT = 5_000;
const HANDLERS_TIMEOUT = 3_000;
const TASKS_TIMEOUT = 5_000;
/**
 * Milliseconds from the beginning of the shutdown, after the delay for load balancers, until requests must be recorded. `onTermination`
 * ends the process 3 seconds later, whatever the other steps take.
 */
const RECORDER_DEADLINE = 17_000;

/**
 * A request without a complete response. A class, because functions that `begin` assigned to the context kept each request and its
 * body until the old generation of the heap was collected (docs/decisions/0022-heap-growth.md).
 */
class PendingRequest implements OpenRequest, Linked<PendingRequest> {
  previous: PendingRequest | undefined;
  next: PendingRequest | undefined;
  isLinked = false;

  constructor(
    private readonly lifecycle: RequestLifecycle,
    readonly request: Request,
    readonly response: Response,
    readonly context: RequestContext,
    readonly span: Span | undefined,
  ) {}

  record(client: AttributedClient): Promise<void> {
    return this.lifecycle.record(client, this);
  }
}

/** Gives each request its ID and context, and logs it when it has ended. Waits for requests before the process stops. */
@Injectable()
export class RequestLifecycle implements BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly logger = new Logger('Http');
  /** The requests without a complete response, in the order in which they arrived. */
  private readonly pending = new LinkedList<PendingRequest>();
  private closesIdleConnections = false;
  /** When requests must be recorded, on the clock of `performance.now()`. */
  private recorderDeadline: number | undefined;

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly shutdown: GracefulShutdown,
    private readonly tasks: BackgroundTasks,
    private readonly metrics: RequestMetrics,
    private readonly tracing: Tracing,
    @Optional() @Inject(RequestRecorder) private readonly recorder?: RequestRecorder,
  ) {
    metrics.watch(
      () => this.pending.size,
      () => this.oldestMilliseconds(),
    );
  }

  /**
   * The first of these hooks in the process. Closes the port, and the remaining connections after a time limit. Otherwise the server would wait forever for clients that
   * never finish a request.
   */
  async beforeApplicationShutdown(): Promise<void> {
    this.recorderDeadline = performance.now() + RECORDER_DEADLINE;
    setTimeout(() => this.server?.closeAllConnections(), CONNECTIONS_TIMEOUT).unref();
    await this.shutdown.closePort();
    this.closesIdleConnections = true;
  }

  /**
   * The server has closed, but handlers of disconnected clients, background tasks and log entries may not be
   * finished. All need the database, which closes afterwards.
   */
  async onApplicationShutdown(): Promise<void> {
    const deadline = performance.now() + HANDLERS_TIMEOUT;
    while (this.pending.size > 0 && performance.now() < deadline) await pause(10);
    await this.tasks.end(TASKS_TIMEOUT);
    await this.recorder?.close(this.recorderDeadline ?? performance.now() + RECORDER_DEADLINE);
  }

  /** The first middleware. */
  readonly begin = (request: Request, response: Response, next: NextFunction): void => {
    const context = openRequestContext(request);
    response.setHeader('X-Request-Id', context.requestId);
    if (this.shutdown.closesAfterResponse) response.setHeader('Connection', 'close');
    const span = this.tracing.begin(methodOf(request), { kind: SpanKind.SERVER, headers: request.headers });
    const open = new PendingRequest(this, request, response, context, span);
    context.open = open;
    this.pending.add(open);
    response.once('close', () => this.close(open));
    this.tracing.within(span, next);
  };

  /** Writes the request log entry of a client's request, and then the service log and the metrics. */
  async record(client: AttributedClient, pending: PendingRequest): Promise<void> {
    const { request, response, context } = pending;
    if (this.shutdown.closesAfterResponse && !response.headersSent) response.setHeader('Connection', 'close');
    const completed = {
      ...client,
      method: request.method,
      path: recordedPath(request),
      statusCode: response.statusCode,
      latencyMilliseconds: Math.round(context.elapsedMilliseconds),
      body: request.body,
      sessionId: context.sessionId,
      externalUserId: context.externalUserId,
      agent: context.agent,
      requestId: context.requestId,
      apiKey: context.apiKey,
      secretVersion: context.secretVersion,
      ...requestOrigin(request),
      error: context.error && {
        code: context.error.code,
        message: context.refusal ?? context.error.message,
      },
    };
    const tools = [context.tool, ...context.furtherTools];
    await Promise.all(tools.map((tool) => this.recorder?.record({ ...completed, tool })));
    this.log(pending);
  }

  private close(pending: PendingRequest): void {
    const { request, response, context } = pending;
    // The handler of a client that has disconnected still runs, and its request is recorded.
    if (!context.client || !context.isRecorded) this.log(pending);
    // A request that arrived slowly is in the old generation of the heap, where it would keep its body until that is collected.
    if (response.writableFinished) request.body = undefined;
    // Nest closes idle connections once. Before that, a load balancer may be sending on one.
    if (this.closesIdleConnections && this.server?.listening === false) this.server.closeIdleConnections();
  }

  private log(pending: PendingRequest): void {
    if (!this.pending.delete(pending)) return;
    const { request, response, context, span } = pending;
    const milliseconds = context.elapsedMilliseconds;
    this.metrics.completed(request, response, milliseconds);
    this.writeLogLine(request, response, context, milliseconds, span?.spanContext().traceId);
    if (span) endSpan(span, request, response, context);
  }

  /** Returns the age of the oldest request whose response has not begun. Streams, whose responses take hours, have begun. Requests that wait for an event on purpose are not counted. */
  private oldestMilliseconds(): number {
    for (const { response, context } of this.pending)
      if (!response.headersSent && !context.isWaiting) return context.elapsedMilliseconds;
    return 0;
  }

  /** The worker and the CLI have no server. */
  private get server(): Server | undefined {
    return (this.adapterHost.httpAdapter as AbstractHttpAdapter<Server> | null)?.getHttpServer();
  }

  private writeLogLine(
    request: Request,
    response: Response,
    context: RequestContext,
    milliseconds: number,
    traceId: string | undefined,
  ): void {
    this.logger.log('request', {
      request_id: context.requestId,
      trace_id: traceId,
      client_id: context.client?.clientId,
      method: request.method,
      route: routeOf(request),
      tool: context.tool,
      status: response.statusCode,
      milliseconds: Math.round(milliseconds * 10) / 10,
      hint: context.hint,
    });
  }
}
