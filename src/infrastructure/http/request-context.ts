import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { performance } from 'node:perf_hooks';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { PlatformEnvironment } from '../config/index.js';
import type { ApiError } from '../errors/index.js';

/** The API client that a request is attributed to, whether or not it was authenticated. */
export interface AttributedClient {
  readonly clientId: string;
  readonly environment: PlatformEnvironment;
}

/** A request without a complete response. */
export interface OpenRequest {
  record(client: AttributedClient): Promise<void>;
}

/** Data about a request, kept until the request ends. */
export class RequestContext {
  /** Set as soon as the client is known, even if its secret was wrong. */
  client?: AttributedClient;
  sessionId?: string;
  /** `null`: the entry must not name the user of the body. */
  externalUserId?: string | null;
  tool?: string;
  /** The tools that the other messages of a batch call. Each gets an entry of its own. */
  furtherTools: readonly (string | undefined)[] = [];
  /** Name and host of the agent, if its user connected it. */
  agent?: string | null;
  /** Name of the API key that the request was sent with. */
  apiKey?: string | undefined;
  /** Version of the secret that the request was sent with. */
  secretVersion?: number | undefined;
  /** Why the credentials were refused, for the client's request log only. */
  refusal?: string | undefined;
  /** Whether the request waits because the client asked for it. */
  isWaiting = false;
  /** The error that the response contains. */
  error?: Pick<ApiError, 'code' | 'message'>;
  /** The probable mistake of the client, for the service log only. */
  hint?: string;
  /**
   * Writes the request log entry of a client's request, and then the service log and the metrics. Call it before the headers of
   * the response are sent; afterwards, it does nothing.
   */
  async recordNow(): Promise<void> {
    if (this.client && this.isRecorded) this.recorded ??= this.open?.record(this.client);
    await this.recorded;
  }

  /** Whether the request is written to the client's request log. Requests to the dashboard API are not. */
  get isRecorded(): boolean {
    return this.isIncluded;
  }

  /** Excludes the request from the client's request log. The service log and the metrics have every request. */
  excludeFromRequestLog(): void {
    this.isIncluded = false;
  }

  /** Includes the request in the client's request log, also if it was excluded when less was known about it. */
  includeInRequestLog(): void {
    this.isIncluded = true;
  }

  /** Set by `RequestLifecycle`. */
  open: OpenRequest | undefined;
  private isIncluded = true;
  private recorded: Promise<void> | undefined;

  private readonly startedAt = performance.now();

  constructor(readonly requestId: string) {}

  get elapsedMilliseconds(): number {
    return performance.now() - this.startedAt;
  }
}

/** Data of a request for the request log. Handlers may set values that the body does not contain. */
export type RequestAttribution = Pick<
  RequestContext,
  'client' | 'sessionId' | 'externalUserId' | 'tool' | 'agent'
>;

/** The client's own request id is used if it matches (specification, "Every response"). */
const ACCEPTABLE_REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/;
/** A property instead of a WeakMap, whose entries slow down garbage collection. */
const CONTEXT = Symbol('request context');
type RequestWithContext = IncomingMessage & { [CONTEXT]?: RequestContext };

/** Call it once, before anything else handles the request. */
export function openRequestContext(request: RequestWithContext): RequestContext {
  const header = request.headers['x-request-id'];
  const requestId = typeof header === 'string' && ACCEPTABLE_REQUEST_ID.test(header) ? header : randomUUID();
  const context = new RequestContext(requestId);
  request[CONTEXT] = context;
  return context;
}

/** Returns the context of a request. */
export function requestContext(request: RequestWithContext): RequestContext {
  return request[CONTEXT] ?? openRequestContext(request);
}

/** Creates a decorator for handler parameters from a function of the request. */
export function requestParameter<Value>(valueOf: (request: Request) => Value) {
  return createParamDecorator((_data: unknown, context: ExecutionContext) =>
    valueOf(context.switchToHttp().getRequest<Request>()),
  );
}

/** Handler parameter: the details that the handler adds to the request log entry. */
export const Attribution = requestParameter((request): RequestAttribution => requestContext(request));

type LoggedContext = {
  readonly [
    Name in 'sessionId' | 'externalUserId' | 'tool' | 'agent' | 'apiKey' | 'secretVersion' | 'error'
  ]?: RequestContext[Name] | undefined;
};

export interface CompletedRequest extends AttributedClient, LoggedContext {
  readonly method: string;
  readonly path: string;
  readonly statusCode: number;
  readonly latencyMilliseconds: number;
  /** The parsed body, if there was one. */
  readonly body: unknown;
  readonly requestId: string;
  /** The origin of the request, as `requestOrigin` returns it. */
  readonly ip: string;
  readonly userAgent: string;
}

/** Records every request of a known client before its response is sent. */
export abstract class RequestRecorder {
  /** The response is sent when this resolves. Must not reject and must not take long. */
  abstract record(request: CompletedRequest): Promise<void>;
  /**
   * Called once, when the process ends. Resolves when everything has been written or saved.
   *
   * @param deadline when that must be, on the clock of `performance.now()`
   */
  abstract close(deadline: number): Promise<void>;
}
