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
import { BackgroundTasks } from './background-tasks.js';
import { RequestRecorder } from './request-recorder.js';
import { GracefulShutdown } from './graceful-shutdown.js';
import { openRequestContext, type RequestContext } from './request-context.js';
import { routeOf } from './request-labels.js';
import { RequestMetrics } from './request-metrics.js';
import { RequestSpans } from './request-spans.js';
import { closeIfUnread } from './unread-body.js';

/** Milliseconds that a shutdown waits for open connections, then for handlers, then for background tasks. */
const CONNECTIONS_TIMEOUT = 5_000;
const HANDLERS_TIMEOUT = 3_000;
const TASKS_TIMEOUT = 5_000;

/**
 * The first middleware. Gives each request its ID and context, and wraps `response.end()`: a response that belongs to an
 * API client waits at most 250 ms for the commit of its request log entry before it is sent (requests to OAuth endpoints
 * have no entry), and every response gets a service log line afterward. A `finish` listener would run too late, and an
 * interceptor would miss responses from guards.
 */
@Injectable()
export class RequestLifecycle implements BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly logger = new Logger('Http');
  private pendingResponses = 0;

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly shutdown: GracefulShutdown,
    private readonly tasks: BackgroundTasks,
    private readonly metrics: RequestMetrics,
    private readonly spans: RequestSpans,
    @Optional() @Inject(RequestRecorder) private readonly recorder?: RequestRecorder,
  ) {
    metrics.watch(() => this.pendingResponses);
  }

  /**
   * Closes the remaining connections after a time limit. Otherwise the server would wait forever for clients that never
   * finish a request.
   */
  beforeApplicationShutdown(): void {
    // The worker and the CLI have no server.
    const adapter = this.adapterHost.httpAdapter as AbstractHttpAdapter<Server> | null;
    setTimeout(() => adapter?.getHttpServer().closeAllConnections(), CONNECTIONS_TIMEOUT).unref();
  }

  /**
   * The server has closed, but handlers of disconnected clients, background tasks and log entries may not be
   * finished. All need the database, which closes afterwards.
   */
  async onApplicationShutdown(): Promise<void> {
    const deadline = performance.now() + HANDLERS_TIMEOUT;
    while (this.pendingResponses > 0 && performance.now() < deadline) await pause(10);
    await Promise.race([this.tasks.settled(), pause(TASKS_TIMEOUT, undefined, { ref: false })]);
    await this.recorder?.close();
  }

  readonly middleware = (request: Request, response: Response, next: NextFunction): void => {
    const context = openRequestContext(request);
    response.setHeader('X-Request-Id', context.requestId);
    const span = this.spans.begin(request);
    const end = response.end;
    let isPending = true;
    this.pendingResponses += 1;
    const settle = (): void => {
      if (isPending) this.pendingResponses -= 1;
      isPending = false;
    };
    // If the peer disconnects during a static file, `end()` is never called, so settle here. A request that belongs to an
    // API client has a handler, which always calls `end()`.
    response.once('close', () => {
      if (!context.client) settle();
    });
    const log = (): void => {
      settle();
      const milliseconds = context.elapsedMilliseconds;
      this.metrics.completed(request, response, milliseconds);
      this.writeLogLine(request, response, context, milliseconds, span?.spanContext().traceId);
      if (span) this.spans.end(span, request, response, context);
    };
    const endAndLog = (values: unknown[]): void => {
      Reflect.apply(end, response, values);
      log();
    };
    context.recordNow = async () => {
      response.end = end;
      await this.writeRequestLogEntry(request, response, context);
      log();
    };
    response.end = ((...values: unknown[]) => {
      response.end = end;
      if (this.shutdown.isShuttingDown && !response.headersSent) response.setHeader('Connection', 'close');
      closeIfUnread(request, response);
      const recorded = this.writeRequestLogEntry(request, response, context);
      if (recorded) void recorded.finally(() => endAndLog(values));
      else endAndLog(values);
      return response;
    }) as Response['end'];
    this.spans.within(span, next);
  };

  private writeRequestLogEntry(
    request: Request,
    response: Response,
    context: RequestContext,
  ): Promise<void> | undefined {
    if (!this.recorder || !context.client || !context.isRecorded) return undefined;
    return this.recorder.record({
      ...context.client,
      method: request.method,
      path: request.path,
      statusCode: response.statusCode,
      latencyMilliseconds: Math.round(context.elapsedMilliseconds),
      body: request.body,
      sessionId: context.sessionId,
      externalUserId: context.externalUserId,
      tool: context.tool,
    });
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
