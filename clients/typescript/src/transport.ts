import { ApiError, ConnectionError, errorOf } from './errors.js';
import { Pages, type Page } from './pages.js';

/** A secret, or a function that returns the current one. */
export type Secret = string | (() => string | Promise<string>);

/** How to reach the service. Give the credentials of those operations that you use. */
export interface ClientOptions {
  /** Address of the platform API, and of the other APIs unless they have addresses of their own. */
  readonly baseUrl: string;
  readonly dashboardUrl?: string | undefined;
  readonly careersUrl?: string | undefined;
  readonly internalUrl?: string | undefined;
  /** The credentials of the API client, for the platform API. */
  readonly clientId?: string | undefined;
  readonly clientSecret?: Secret | undefined;
  /** An access token of the device authorization flow, for the dashboard API. It expires after 15 minutes. */
  readonly accessToken?: Secret | undefined;
  /** A service token, for the internal API. */
  readonly serviceToken?: Secret | undefined;
  /** How often a request is repeated after a response with status 429 or 503, or without a response. Default: 2. */
  readonly maxRetries?: number | undefined;
  /** Seconds. If the service asks for a longer wait, the request fails at once. Default: 60. */
  readonly maxRetryDelay?: number | undefined;
  /** Milliseconds until a request without a response fails. Default: 30000. */
  readonly timeout?: number | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

/** Options of one request. */
export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  /** Additional headers, such as `X-Request-Id`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly timeout?: number | undefined;
  readonly maxRetries?: number | undefined;
  /**
   * The `Idempotency-Key` header, for operations that accept it (docs/retrying.md): they return the same result for each
   * request with the same key and body, so that they can be repeated.
   */
  readonly idempotencyKey?: string | undefined;
}

/** A request as the API document describes it. */
export interface OperationRequest {
  readonly method: string;
  readonly path: string;
  readonly surface: 'platform' | 'dashboard' | 'careers' | 'internal';
  readonly credentials: 'basic' | 'bearer' | 'service' | 'none';
  readonly query?: object | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as a form. */
  readonly form?: object | undefined;
}

/**
 * POST operations that are safe to repeat although it is unknown whether the first request was processed
 * (docs/retrying.md). A request that got 429, or 409 because another one with the same idempotency key was in progress, was
 * not processed, and is repeated in any case.
 */
const REPEATABLE = new Set([
  'createMcpToken',
  'createSession',
  'identifyDetectedAccounts',
  'introspectToken',
  'openSession',
  'recoverWebhooks',
  'redeliverWebhook',
  'requestDeviceCode',
  'revokeToken',
  'searchDetectedAccounts',
]);

/** POST operations that are safe to repeat with an `Idempotency-Key` header. */
const REPEATABLE_WITH_KEY = new Set(['createDetection', 'createWebhookEndpoint', 'publishEvent']);

/** Milliseconds before the first retry if the service does not say how long to wait; doubled each time. */
const FIRST_DELAY = 500;
const DEFAULTS = { maxRetries: 2, maxRetryDelay: 60, timeout: 30_000 };

/** Sends requests: credentials, time limits, retries and errors. */
export class Transport {
  constructor(private readonly options: ClientOptions) {}

  protected send<Body>(
    operation: string,
    request: OperationRequest,
    options: RequestOptions = {},
  ): Promise<Body> {
    return this.withRetries(operation, request, options, async (response) => {
      const text = await response.text();
      return (text === '' ? undefined : JSON.parse(text)) as Body;
    });
  }

  /** Returns the response as soon as it begins. The time limit applies until then. */
  protected open(
    operation: string,
    request: OperationRequest,
    options: RequestOptions = {},
  ): Promise<Response> {
    return this.withRetries(operation, request, options, (response) => Promise.resolve(response));
  }

  protected pages<Item>(operation: string, request: OperationRequest, options?: RequestOptions): Pages<Item> {
    return new Pages((cursor) => {
      const query = { ...request.query, ...(cursor !== undefined && { cursor }) };
      return this.send<Page<Item>>(operation, { ...request, query }, options);
    });
  }

  private async withRetries<Result>(
    operation: string,
    request: OperationRequest,
    options: RequestOptions,
    read: (response: Response) => Promise<Result>,
  ): Promise<Result> {
    const maxRetries = options.maxRetries ?? this.options.maxRetries ?? DEFAULTS.maxRetries;
    for (let retries = 0; ; retries += 1) {
      try {
        return await this.attempt(operation, request, options, read);
      } catch (error) {
        const isRepeatable =
          request.method !== 'POST' ||
          REPEATABLE.has(operation) ||
          (options.idempotencyKey !== undefined && REPEATABLE_WITH_KEY.has(operation)) ||
          hasKeys(request.body);
        const delay = retries < maxRetries ? this.delayAfter(error, isRepeatable, retries) : undefined;
        if (delay === undefined) throw error;
        await wait(delay, options.signal);
      }
    }
  }

  private async attempt<Result>(
    operation: string,
    request: OperationRequest,
    options: RequestOptions,
    read: (response: Response) => Promise<Result>,
  ): Promise<Result> {
    const init = await this.initOf(operation, request, options);
    const limit = options.timeout ?? this.options.timeout ?? DEFAULTS.timeout;
    const url = this.urlOf(request);
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(new Error(`no response within ${limit} ms`)), limit);
    try {
      const signal = AbortSignal.any([timeout.signal, ...(options.signal ? [options.signal] : [])]);
      const response = await (this.options.fetch ?? fetch)(url, { ...init, signal });
      if (!response.ok) throw await errorOf(operation, url, response);
      return await read(response);
    } catch (error) {
      if (error instanceof ApiError || options.signal?.aborted) throw error;
      const message = `The request to ${new URL(url).origin} failed: ${reasonOf(error)}.`;
      throw new ConnectionError(operation, message, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  /** Returns the milliseconds until a failed request is repeated; undefined if it must not be. */
  private delayAfter(error: unknown, isRepeatable: boolean, retries: number): number | undefined {
    const wasNotProcessed =
      error instanceof ApiError &&
      (error.status === 429 || (error.status === 409 && error.errorCode === 'ONGOING_OPERATION'));
    const isTemporary =
      error instanceof ConnectionError || (error instanceof ApiError && error.status === 503);
    if (!wasNotProcessed && !(isTemporary && isRepeatable)) return undefined;
    const retryAfter = error instanceof ApiError ? error.retryAfter : undefined;
    const jitter = 0.5 + Math.random() / 2;
    if (retryAfter === undefined) return FIRST_DELAY * 2 ** retries * jitter;
    if (retryAfter > (this.options.maxRetryDelay ?? DEFAULTS.maxRetryDelay)) return undefined;
    return retryAfter * 1000 + FIRST_DELAY * jitter;
  }

  private urlOf({ surface, path, query = {} }: OperationRequest): string {
    const { baseUrl, dashboardUrl, careersUrl, internalUrl } = this.options;
    const own = { platform: baseUrl, dashboard: dashboardUrl, careers: careersUrl, internal: internalUrl };
    const url = new URL((own[surface] ?? baseUrl).replace(/\/+$/, '') + path);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== null) url.searchParams.set(name, textOf(value));
    }
    return url.href;
  }

  private async initOf(
    operation: string,
    { method, credentials, body, form }: OperationRequest,
    options: RequestOptions,
  ): Promise<RequestInit> {
    const headers = new Headers({ accept: 'application/json, text/event-stream', ...options.headers });
    const authorization = await this.authorization(operation, credentials);
    if (authorization !== undefined) headers.set('authorization', authorization);
    if (options.idempotencyKey !== undefined) headers.set('idempotency-key', options.idempotencyKey);
    if (form) return { method, headers, body: new URLSearchParams(definedOf(form)) };
    if (body === undefined) return { method, headers };
    headers.set('content-type', 'application/json');
    return { method, headers, body: JSON.stringify(body) };
  }

  private async authorization(
    operation: string,
    credentials: OperationRequest['credentials'],
  ): Promise<string | undefined> {
    const { clientId, clientSecret, accessToken, serviceToken } = this.options;
    if (credentials === 'none') return undefined;
    if (credentials === 'basic') {
      const secret = await valueOf(clientSecret);
      if (!clientId || !secret) throw new TypeError(`${operation} requires clientId and clientSecret.`);
      return `Basic ${btoa(`${clientId}:${secret}`)}`;
    }
    const [token, name] =
      credentials === 'bearer' ? [accessToken, 'accessToken'] : [serviceToken, 'serviceToken'];
    const value = await valueOf(token);
    if (!value) throw new TypeError(`${operation} requires ${name}.`);
    return `Bearer ${value}`;
  }
}

/** Whether each event to be published has an idempotency key. */
function hasKeys(body: unknown): boolean {
  const { events = [body] } = (body ?? {}) as { readonly events?: readonly unknown[] };
  return events.every((event) => (event as { idempotency_key?: unknown } | undefined)?.idempotency_key);
}

function valueOf(secret: Secret | undefined): string | undefined | Promise<string> {
  return typeof secret === 'function' ? secret() : secret;
}

/** Texts of a query or a form. */
function textOf(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value);
}

function definedOf(form: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(form).flatMap(([name, value]) => (value === undefined ? [] : [[name, textOf(value)]])),
  );
}

/** The reason of a failed `fetch` is in its cause. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  if (!(cause instanceof Error)) return message;
  // An error for several addresses has a code only.
  return cause.message || (cause as { readonly code?: string }).code || message;
}

function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}
