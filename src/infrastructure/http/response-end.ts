import { setTimeout as pause } from 'node:timers/promises';
import {
  Inject,
  Injectable,
  Logger,
  Optional,
  type BeforeApplicationShutdown,
  type OnApplicationShutdown,
} from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { CallRecorder } from './call-recorder.js';
import { openRequestContext, type RequestContext } from './request-context.js';

/** Milliseconds. */
const SHUTDOWN_PATIENCE = 5_000;

/**
 * The first middleware: gives the request its id and context, and wraps the end of the response, so
 * that whatever answers (a handler, a guard's 401 or 429, the error filter) is logged and recorded in
 * one place.
 */
@Injectable()
export class ResponseEnd implements BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly logger = new Logger('Http');
  private stopping = false;
  private answersUnderWay = 0;

  constructor(@Optional() @Inject(CallRecorder) private readonly recorder?: CallRecorder) {}

  /** From now on every answer closes its connection, or the server would wait for idle callers. */
  beforeApplicationShutdown(): void {
    this.stopping = true;
  }

  /**
   * The server has closed, but of calls whose callers hung up the handlers may still be at work, and log
   * entries may still wait. Both need the database, which closes after this.
   */
  async onApplicationShutdown(): Promise<void> {
    const deadline = performance.now() + SHUTDOWN_PATIENCE;
    while (this.answersUnderWay > 0 && performance.now() < deadline) await pause(10);
    await this.recorder?.flush();
  }

  readonly middleware = (request: Request, response: Response, next: NextFunction): void => {
    const context = openRequestContext(request);
    response.setHeader('X-Request-Id', context.requestId);
    const end = response.end;
    this.answersUnderWay += 1;
    const endAndLog = (values: unknown[]): void => {
      this.answersUnderWay -= 1;
      Reflect.apply(end, response, values);
      this.log(request, response, context);
    };
    response.end = ((...values: unknown[]) => {
      response.end = end;
      if (this.stopping && !response.headersSent) response.setHeader('Connection', 'close');
      const recorded = this.record(request, response, context);
      if (recorded) void recorded.finally(() => endAndLog(values));
      else endAndLog(values);
      return response;
    }) as Response['end'];
    next();
  };

  private record(request: Request, response: Response, context: RequestContext): Promise<void> | undefined {
    if (!this.recorder || !context.client) return undefined;
    return this.recorder.record({
      ...context.client,
      method: request.method,
      path: request.path,
      statusCode: response.statusCode,
      latencyMilliseconds: Math.round(context.elapsedMilliseconds),
      body: request.body,
    });
  }

  private log(request: Request, response: Response, context: RequestContext): void {
    this.logger.log('call', {
      request_id: context.requestId,
      client_id: context.client?.clientId,
      method: request.method,
      route: (request.route as { path?: string } | undefined)?.path,
      status: response.statusCode,
      milliseconds: Math.round(context.elapsedMilliseconds * 10) / 10,
      hint: context.hint,
    });
  }
}
