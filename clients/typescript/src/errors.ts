import type { ErrorCode, ErrorResponse, ErrorType, OAuthErrorCode, OAuthErrorResponse } from './schemas.js';

/** An error response of the service. Branch on `errorCode`. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    /** The operation, for example `createMcpToken`. */
    readonly operation: string,
    readonly status: number,
    message: string,
    readonly details: {
      readonly errorType?: ErrorType | undefined;
      readonly errorCode?: ErrorCode | undefined;
      /** Quote it when you report a problem. */
      readonly requestId?: string | undefined;
      /** Seconds to wait before you repeat the request. */
      readonly retryAfter?: number | undefined;
      /** Address of the documentation of this error. */
      readonly help?: string | undefined;
      /** The error code of OAuth, of operations of the device authorization flow. */
      readonly oauthError?: OAuthErrorCode | undefined;
      /** Seconds between polls from now on. */
      readonly interval?: number | undefined;
      /** The cursor to continue with, if that of the request is too old (`EVENT_CURSOR_EXPIRED`). */
      readonly oldestCursor?: string | undefined;
    } = {},
  ) {
    super(message);
  }

  /** Undefined if the response does not come from the service, but from a proxy in front of it. */
  get errorCode(): ErrorCode | undefined {
    return this.details.errorCode;
  }

  get errorType(): ErrorType | undefined {
    return this.details.errorType;
  }

  get requestId(): string | undefined {
    return this.details.requestId;
  }

  get retryAfter(): number | undefined {
    return this.details.retryAfter;
  }

  get help(): string | undefined {
    return this.details.help;
  }
}

/** There was no response. It is unknown whether the service has processed the request. `cause` has the reason. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';

  constructor(
    /** The operation, for example `createMcpToken`. */
    readonly operation: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Returns the error that a response with a status other than 2xx stands for. */
export async function errorOf(operation: string, url: string, response: Response): Promise<ApiError> {
  const { status, headers } = response;
  const body = await bodyOf(response);
  if (body.error_code === undefined) return foreignResponse(operation, response, url);
  return new ApiError(operation, status, body.error_message ?? `The response has the status ${status}.`, {
    errorType: body.error_type,
    errorCode: body.error_code,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfter: body.retry_after ?? secondsOf(headers.get('retry-after')),
    help: helpOf(url, headers.get('link') ?? ''),
    oauthError: body.error,
    interval: body.interval,
    oldestCursor: body.oldest_cursor,
  });
}

/** Whether the response does not come from the service. */
export function isForeign({ errorCode }: ApiError): boolean {
  return errorCode === undefined;
}

/** Returns the error that a response stands for that does not come from the service. */
export function foreignResponse(
  operation: string,
  { status, headers, url: own }: Response,
  url = own,
): ApiError {
  const origin = URL.canParse(url) ? ` of ${new URL(url).origin}` : '';
  const [type] = headers.get('content-type')?.split(';') ?? [];
  const details = [
    type ?? 'no content type',
    ...(headers.has('server') ? [`server: ${headers.get('server')}`] : []),
  ];
  const message = `The response${origin} with the status ${status} does not come from the service, but from a proxy or another server (${details.join(', ')}).`;
  return new ApiError(operation, status, message, { retryAfter: secondsOf(headers.get('retry-after')) });
}

/** Returns the error that a redirect stands for. The service never redirects requests of its operations. */
export function redirected(operation: string, url: string, { status, headers }: Response): ApiError {
  const location = headers.get('location') ?? '';
  const target = URL.canParse(location, url) ? ` to ${new URL(location, url).href}` : '';
  const message = `${new URL(url).origin} redirects the request${target}. Nothing was sent there: set the base URL to the address of the service.`;
  return new ApiError(operation, status, message);
}

async function bodyOf(response: Response): Promise<Partial<ErrorResponse & OAuthErrorResponse>> {
  try {
    return ((await response.json()) as Partial<ErrorResponse & OAuthErrorResponse> | null) ?? {};
  } catch {
    return {};
  }
}

/** Returns the address of the link `help`, which the service gives without its host. */
function helpOf(url: string, links: string): string | undefined {
  const [, link] = /<([^>]+)>; *rel="?help"?/.exec(links) ?? [];
  return link === undefined || !URL.canParse(link, url) ? undefined : new URL(link, url).href;
}

function secondsOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  // Without the time of a date, `Date.parse` would read many texts as one. Dates are in UTC, even if they do not say so (RFC 9110,
  // section 5.6.7).
  if (!/:\d\d/.test(header)) return undefined;
  const time = Date.parse(header.endsWith('GMT') ? header : `${header} GMT`);
  return Number.isNaN(time) ? undefined : Math.max(0, Math.ceil((time - Date.now()) / 1000));
}
