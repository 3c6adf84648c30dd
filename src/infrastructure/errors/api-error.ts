import type { ErrorCode, ErrorType } from './enumerations.js';

/** The body of every error response (specification, "Errors"). */
export interface ErrorBody {
  readonly error_type: ErrorType;
  readonly error_code: ErrorCode;
  readonly error_message: string;
  /** Seconds; present on rate-limit errors only. */
  readonly retry_after?: number;
}

export interface ApiErrorOptions {
  /** Seconds to wait before a retry: the `Retry-After` header, and on 429 the field of the body. */
  readonly retryAfter?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error response. The client sees everything in it. */
export class ApiError extends Error {
  constructor(
    readonly type: ErrorType,
    readonly code: ErrorCode,
    message: string,
    readonly status: number,
    readonly options: ApiErrorOptions = {},
  ) {
    super(message);
    this.name = 'ApiError';
  }

  get headers(): Record<string, string> {
    const { retryAfter, headers } = this.options;
    return { ...headers, ...(retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }) };
  }

  get body(): ErrorBody {
    const { retryAfter } = this.options;
    return {
      error_type: this.type,
      error_code: this.code,
      error_message: this.message,
      ...(this.status === 429 && retryAfter !== undefined ? { retry_after: retryAfter } : {}),
    };
  }
}
