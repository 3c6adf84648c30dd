import { ApiError, ConnectionError, errorOf, foreignResponse, isForeign, redirected } from './errors.js';
import { exchangeOf, type Attempt, type Exchange } from './exchange.js';
import { Pages, type Page } from './pages.js';
import { reasonOf } from './reasons.js';
import { VERSION } from './version.js';

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
  /** An API key, in place of `clientSecret` and `accessToken`. */
  readonly apiKey?: Secret | undefined;
  /** An access token of the device authorization flow, for the dashboard API. It expires after 15 minutes. */
  readonly accessToken?: Secret | undefined;
  /** A service token, for the internal API. */
  readonly serviceToken?: Secret | undefined;
  /** How often a request is repeated after a response that asks for it, or without a response. Default: 2. */
  readonly maxRetries?: number | undefined;
  /** Seconds. If the service asks for a longer wait, the request fails at once. Default: 60. */
  readonly maxRetryDelay?: number | undefined;
  /** Milliseconds until a request without a response fails. Default: 30000. */
  readonly timeout?: number | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** The header `User-Agent`, such as `my-shop/1.2.3`. Default: the name and version of the SDK. */
  readonly userAgent?: string | undefined;
  /** A function that is called before each attempt of each request. It can add headers, such as `traceparent`. */
  readonly onRequest?: ((attempt: Attempt) => void) | undefined;
  /** A function that is called after each attempt of each request, for logs, metrics and traces. */
  readonly onResponse?: ((exchange: Exchange) => void) | undefined;
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
  /** A function that is called after each attempt of this request, with its status, request ID and rate limit. */
  readonly onResponse?: ((exchange: Exchange) => void) | undefined;
}

/** A request as the API document describes it. */
export interface OperationRequest {
  readonly method: string;
  /** With names in braces, such as `/request-logs/{id}`. */
  readonly path: string;
  /** The values of the names in the path. */
  readonly inPath?: Readonly<Record<string, string | number>> | undefined;
  readonly surface: 'platform' | 'dashboard' | 'careers' | 'internal';
  readonly credentials: 'basic' | 'bearer' | 'service' | 'none';
  /**
   * Whether the request is safe to repeat although it is unknown whether the first one was processed (docs/retrying.md). One that got
   * 429, or 409 because another one with the same idempotency key was in progress, was not processed, and is repeated in any case.
   * Default: always.
   */
  readonly repeatable?: 'with_idempotency_key' | 'never' | undefined;
  /** Whether the operation accepts the header `Idempotency-Key`. */
  readonly acceptsKey?: true | undefined;
  readonly query?: object | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as a form. */
  readonly form?: object | undefined;
}

/** Milliseconds that a request lasts, at least, beyond those that it asks the service to wait. */
const LEAST_REST = 5000;
/** Milliseconds before the first retry if the service does not say how long to wait; doubled each time. */
const FIRST_DELAY = 500;
const DEFAULTS = { maxRetries: 2, maxRetryDelay: 60, timeout: 30_000 };

const JSON_TYPE = 'application/json';
const STREAM_TYPE = 'text/event-stream';

/** How the body of a response is read. */
interface Reading<Result> {
  readonly type: string;
  /** @param release to be called when the body has ended */
  readonly read: (response: Response, release: () => void) => Promise<Result>;
}

/** Sends requests: credentials, time limits, retries and errors. */
export class Transport {
  /** @throws TypeError if the address is missing or invalid */
  constructor(private readonly options: ClientOptions) {
    const { baseUrl, dashboardUrl, careersUrl, internalUrl } = options;
    const urls = { baseUrl, dashboardUrl, careersUrl, internalUrl };
    for (const [name, url] of Object.entries(urls)) {
      if (name !== 'baseUrl' && url === undefined) continue;
      if (!/^https?:$/.test(URL.canParse(url ?? '') ? new URL(url ?? '').protocol : ''))
        throw new TypeError(
          `${name} must be the address of the service, such as https://api.example.com, but is ${JSON.stringify(url)}.`,
        );
    }
  }

  /** Sends a request of any operation of `OPERATIONS`. The methods of the operations have types. */
  request(operation: string, request: OperationRequest, options?: RequestOptions): Promise<unknown> {
    return this.send(operation, request, options);
  }

  protected send<Body>(
    operation: string,
    request: OperationRequest,
    options: RequestOptions = {},
  ): Promise<Body> {
    return this.withRetries(operation, request, options, {
      type: JSON_TYPE,
      read: async (response, release) => {
        const text = await response.text();
        release();
        try {
          return (text === '' ? undefined : JSON.parse(text)) as Body;
        } catch {
          throw foreignResponse(operation, response);
        }
      },
    });
  }

  /** Returns the response as soon as it begins. The time limit applies until then. */
  protected open(
    operation: string,
    request: OperationRequest,
    options: RequestOptions = {},
  ): Promise<Response> {
    return this.withRetries(operation, request, options, {
      type: STREAM_TYPE,
      read: (response, release) => {
        const isStream = response.headers.get('content-type')?.startsWith(STREAM_TYPE);
        if (isStream) return Promise.resolve(releasedAtEnd(response, release));
        return Promise.reject(foreignResponse(operation, response));
      },
    });
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
    reading: Reading<Result>,
  ): Promise<Result> {
    const maxRetries = options.maxRetries ?? this.options.maxRetries ?? DEFAULTS.maxRetries;
    const needsKey = request.repeatable === 'with_idempotency_key' && request.acceptsKey;
    // Otherwise, a request whose response is lost could not be repeated.
    const idempotencyKey =
      options.idempotencyKey ?? (needsKey && !hasKeys(request.body) ? crypto.randomUUID() : undefined);
    const keyed = { ...options, idempotencyKey };
    for (let retries = 0; ; retries += 1) {
      try {
        return await this.attempt(operation, request, keyed, reading, retries + 1);
      } catch (error) {
        const isRepeatable =
          request.repeatable === undefined ||
          (request.repeatable === 'with_idempotency_key' &&
            (idempotencyKey !== undefined || hasKeys(request.body)));
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
    { type, read }: Reading<Result>,
    attempt: number,
  ): Promise<Result> {
    const init = await this.initOf(operation, request, options, type);
    const limit = limitOf(request, options.timeout ?? this.options.timeout ?? DEFAULTS.timeout);
    const url = this.urlOf(request);
    const started: Attempt = {
      operation,
      method: request.method,
      path: request.path,
      attempt,
      headers: init.headers,
    };
    const begin = performance.now();
    let received: Response | undefined;
    const report = (error?: Error): void => {
      const exchange = exchangeOf(started, performance.now() - begin, received, error);
      this.options.onResponse?.(exchange);
      options.onResponse?.(exchange);
    };
    // An error of a function of the program is not a failure of the request.
    this.options.onRequest?.(started);
    const aborted = new AbortController();
    const late = Object.assign(new Error(`no response within ${limit} ms`), { name: 'TimeoutError' });
    const timer = setTimeout(() => aborted.abort(late), limit);
    const release = forward(options.signal, aborted);
    let result: Result;
    try {
      const response = await (this.options.fetch ?? fetch)(url, { ...init, signal: aborted.signal });
      received = response;
      if (isRedirect(response)) throw redirected(operation, url, response);
      if (!response.ok) throw await errorOf(operation, url, response);
      result = await read(response, release);
    } catch (error) {
      release();
      if (error instanceof ApiError || options.signal?.aborted) {
        const reason = options.signal?.aborted ? (options.signal.reason as Error) : (error as ApiError);
        report(reason);
        throw reason;
      }
      const message = `The request to ${new URL(url).origin} failed: ${reasonOf(error, url, this.options.fetch === undefined)}`;
      const failure = new ConnectionError(operation, message, { cause: error });
      report(failure);
      throw failure;
    } finally {
      clearTimeout(timer);
    }
    report();
    return result;
  }

  /** Returns the milliseconds until a failed request is repeated; undefined if it must not be. */
  private delayAfter(error: unknown, isRepeatable: boolean, retries: number): number | undefined {
    const wasNotProcessed =
      error instanceof ApiError &&
      (error.status === 429 || (error.status === 409 && error.errorCode === 'ONGOING_OPERATION'));
    const isTemporary =
      error instanceof ConnectionError ||
      (error instanceof ApiError &&
        ([502, 503].includes(error.status) || (isForeign(error) && error.status >= 504)));
    const isInternal = error instanceof ApiError && error.status === 500 && retries === 0;
    if (!wasNotProcessed && !((isTemporary || isInternal) && isRepeatable)) return undefined;
    const retryAfter = error instanceof ApiError ? error.retryAfter : undefined;
    const jitter = 0.5 + Math.random() / 2;
    if (retryAfter === undefined) return FIRST_DELAY * 2 ** retries * jitter;
    if (retryAfter > (this.options.maxRetryDelay ?? DEFAULTS.maxRetryDelay)) return undefined;
    return retryAfter * 1000 + FIRST_DELAY * jitter;
  }

  private urlOf({ surface, path, inPath = {}, query = {} }: OperationRequest): string {
    const { baseUrl, dashboardUrl, careersUrl, internalUrl } = this.options;
    const own = { platform: baseUrl, dashboard: dashboardUrl, careers: careersUrl, internal: internalUrl };
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => segment(name, inPath[name] ?? ''));
    const url = new URL((own[surface] ?? baseUrl).replace(/\/+$/, '') + filled);
    for (const [name, value] of Object.entries(query)) {
      if (value === undefined || value === null) continue;
      // A parameter with several values is repeated.
      for (const each of [value].flat()) url.searchParams.append(name, textOf(each));
    }
    return url.href;
  }

  private async initOf(
    operation: string,
    { method, credentials, body, form }: OperationRequest,
    options: RequestOptions,
    accept: string,
  ): Promise<RequestInit & { readonly headers: Headers }> {
    const { userAgent = `merchant-connectivity-sdk/${VERSION}` } = this.options;
    const headers = new Headers({ accept, 'user-agent': userAgent, ...options.headers });
    const authorization = await this.authorization(operation, credentials);
    if (authorization !== undefined) headers.set('authorization', authorization);
    if (options.idempotencyKey !== undefined) headers.set('idempotency-key', options.idempotencyKey);
    // A redirect could lead the credentials and the body to another host, or turn the request into a GET.
    const init = { method, headers, redirect: 'manual' } as const;
    if (form) return { ...init, body: new URLSearchParams(definedOf(form)) };
    if (body === undefined) return init;
    headers.set('content-type', JSON_TYPE);
    return { ...init, body: JSON.stringify(body) };
  }

  private async authorization(
    operation: string,
    credentials: OperationRequest['credentials'],
  ): Promise<string | undefined> {
    const { clientSecret, apiKey, accessToken, serviceToken } = this.options;
    if (credentials === 'none') return undefined;
    if (credentials === 'basic') {
      const clientId = await valueOf(this.options.clientId);
      const secret = await valueOf(apiKey ?? clientSecret);
      if (!clientId || !secret)
        throw new TypeError(`${operation} requires clientId, and apiKey or clientSecret.`);
      return `Basic ${btoa(`${clientId}:${secret}`)}`;
    }
    const [token, name] =
      credentials === 'bearer'
        ? [accessToken ?? apiKey, 'apiKey or accessToken']
        : [serviceToken, 'serviceToken'];
    const value = await valueOf(token);
    if (!value) throw new TypeError(`${operation} requires ${name}.`);
    return `Bearer ${value}`;
  }
}

/** Returns the milliseconds until the request fails. The event feed may wait for longer than the program waits for other responses. */
function limitOf({ query = {} }: OperationRequest, timeout: number): number {
  const wait = Number((query as { readonly wait?: unknown }).wait);
  return wait > 0 ? Math.max(timeout, wait * 1000 + LEAST_REST) : timeout;
}

/** A path that `.` and `..` change, for URL parsers, or for proxies that decode it before they do. */
const DOT_SEGMENT = /(?:^|[/\\])\.{1,2}(?:[/\\]|$)/;

/**
 * Returns a value for one segment of a path.
 *
 * @throws TypeError for a value with which the path would be that of another operation
 */
function segment(name: string, value: string | number): string {
  const text = String(value);
  const decoded = text.replaceAll(/%(?:2e|2f|5c)/gi, (escape) => decodeURIComponent(escape));
  if (text.trim() === '' || DOT_SEGMENT.test(decoded) || hasLoneSurrogate(text))
    throw new TypeError(`${name} must not be ${JSON.stringify(text)}, which cannot be part of a path.`);
  return encodeURIComponent(text);
}

/** `String.prototype.isWellFormed` is newer than the oldest browsers and compilers. */
function hasLoneSurrogate(text: string): boolean {
  return /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(text);
}

/** Browsers hide the status of a redirect that they do not follow. */
function isRedirect({ status, type }: Response): boolean {
  return type === 'opaqueredirect' || (status >= 300 && status < 400 && status !== 304);
}

/**
 * Aborts the request when the signal of the caller is aborted. `AbortSignal.any` would keep something of each request as
 * long as that signal exists, on Node.js 20 and 22.
 *
 * @returns a function that ends that
 */
function forward(signal: AbortSignal | undefined, request: AbortController): () => void {
  const abort = (): void => request.abort(signal?.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort, { once: true });
  return () => signal?.removeEventListener('abort', abort);
}

/** Returns the response, with a body that calls the function when it has ended. */
function releasedAtEnd(response: Response, release: () => void): Response {
  const reader = response.body?.getReader();
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { value, done } = (await reader?.read()) ?? { done: true };
        if (value) controller.enqueue(value);
        if (!done) return;
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      release();
    },
    cancel: (reason) => {
      release();
      return reader?.cancel(reason);
    },
  });
  return new Response(body, response);
}

/** Whether each event to be published has an idempotency key. */
function hasKeys(body: unknown): boolean {
  const { events } = (body ?? {}) as { readonly events?: readonly unknown[] | null };
  const all = events ?? [body];
  const hasKey = (event: unknown) =>
    Boolean((event as { idempotency_key?: unknown } | null)?.idempotency_key);
  return all.length > 0 && all.every(hasKey);
}

/** Files end with a line feed. */
async function valueOf(secret: Secret | undefined): Promise<string | undefined> {
  return (await (typeof secret === 'function' ? secret() : secret))?.trim();
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
