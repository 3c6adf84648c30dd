import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { performance } from 'node:perf_hooks';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { PlatformEnvironment } from '../config/index.js';

/** The API client that a call is attributed to, whether it got in or not. */
export interface AttributedClient {
  readonly clientId: string;
  readonly environment: PlatformEnvironment;
}

/** Whom and what a call is about, for the request log; a handler may know it better than the body tells. */
export interface RequestAttribution {
  /** Set as soon as a client is recognised, also when its secret was wrong. */
  client?: AttributedClient;
  sessionId?: string;
  externalUserId?: string;
}

/** What is known of a request besides what the caller sent; lives as long as the request. */
export class RequestContext implements RequestAttribution {
  client?: AttributedClient;
  sessionId?: string;
  externalUserId?: string;
  /** Whether the call belongs into the request log of its client: calls of the dashboard API do not. */
  isRecorded = true;
  /** For the operators' log only: what the caller probably did wrong. */
  hint?: string;

  private readonly startedAt = performance.now();

  constructor(readonly requestId: string) {}

  get elapsedMilliseconds(): number {
    return performance.now() - this.startedAt;
  }
}

/** A caller's own id is kept if it matches (contract, "Every response"). */
const ACCEPTABLE_REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/;
/** A property rather than a WeakMap, whose entries every collection of short-lived objects must visit. */
const CONTEXT = Symbol('request context');
type RequestWithContext = IncomingMessage & { [CONTEXT]?: RequestContext };

export function openRequestContext(request: RequestWithContext): RequestContext {
  const own = request.headers['x-request-id'];
  const requestId = typeof own === 'string' && ACCEPTABLE_REQUEST_ID.test(own) ? own : randomUUID();
  const context = new RequestContext(requestId);
  request[CONTEXT] = context;
  return context;
}

/** The context of a request, from its first middleware on. */
export function requestContext(request: RequestWithContext): RequestContext {
  return request[CONTEXT] ?? openRequestContext(request);
}

/** The handler's parameter to say in whom and what the call is about. */
export const Attribution = createParamDecorator(
  (_data: unknown, context: ExecutionContext): RequestAttribution =>
    requestContext(context.switchToHttp().getRequest<RequestWithContext>()),
);
