/**
 * The published values of `error_type` and `error_code`: first those of the specification, including values that only
 * operations of the wider platform return, then the extensions of this service.
 */
export const ERROR_TYPES = [
  'INVALID_INPUT',
  'INVALID_REQUEST',
  'USER_ERROR',
  'SESSION_ERROR',
  'MERCHANT_ACCOUNT_ERROR',
  'MERCHANT_ERROR',
  'SUBSCRIPTION_ERROR',
  'TRANSACTION_ERROR',
  'CART_ERROR',
  'WEBHOOK_ENDPOINT_ERROR',
  'REQUEST_LOG_ERROR',
  'RATE_LIMIT_ERROR',
  'API_ERROR',
] as const;
export type ErrorType = (typeof ERROR_TYPES)[number];

const PUBLISHED_CODES = [
  'INVALID_API_KEYS',
  'INVALID_FIELD',
  'INVALID_JWE',
  'INVALID_CURSOR_FORMAT',
  'USER_NOT_FOUND',
  'MERCHANT_ACCOUNT_NOT_FOUND',
  'MERCHANT_ACCOUNT_DISCONNECTED',
  'SESSION_NOT_FOUND',
  'EXTEND_NOT_SUPPORTED',
  'MERCHANT_UNAVAILABLE',
  'NO_ACCESS',
  'TRANSACTION_NOT_FOUND',
  'NO_TRANSACTIONS',
  'SUBSCRIPTION_NOT_FOUND',
  'CANCELLABLE_SUBSCRIPTION_NOT_FOUND',
  'MULTIPLE_CANCELLABLE_SUBSCRIPTIONS_FOUND',
  'ONGOING_OPERATION',
  'CART_NOT_FOUND',
  'FULFILLMENT_NOT_FOUND',
  'INVALID_ACCESS_TOKEN',
  'INSUFFICIENT_SCOPE',
  'INSUFFICIENT_ROLE',
  'WEBHOOK_ENDPOINT_NOT_FOUND',
  'WEBHOOK_ENDPOINT_LIMIT_REACHED',
  'WEBHOOK_ENDPOINT_ALREADY_EXISTS',
  'RATE_LIMIT_EXCEEDED',
  'ENVIRONMENT_MISMATCH',
  'REQUEST_LOG_NOT_FOUND',
  'REQUEST_LOG_QUERY_TIMEOUT',
  'WEBHOOK_ENDPOINT_DISABLED',
  'IDEMPOTENCY_KEY_REUSED',
  'TOO_MANY_REQUESTS',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
] as const;

/**
 * The codes that a capability adds, by `declare module` in the file of its errors.
 *
 * @public
 */
export interface ErrorCodes {}

export type ErrorCode = (typeof PUBLISHED_CODES)[number] | (keyof ErrorCodes & string);

/** All codes: those of capabilities are added by their error kinds. */
export const ERROR_CODES: ErrorCode[] = [...PUBLISHED_CODES];

/** The body of every error response (specification, "Errors"). */
export interface ErrorBody {
  readonly error_type: ErrorType;
  readonly error_code: ErrorCode;
  readonly error_message: string;
  /** Seconds; present on rate-limit errors only. */
  readonly retry_after?: number;
  /** Only present if the cursor of the request is too old. */
  readonly oldest_cursor?: string;
}

/**
 * Words a problem with a field.
 *
 * @param field what the text calls the field
 * @param limit what is allowed
 * @param other what the text calls the other field, for a problem with two
 */
export type ProblemRule = (field: string, limit: never, other: string) => string;

/** A problem with a field of a request, as data: responses call fields by their names, and pages by their labels. */
export interface FieldProblem {
  /** The name in the request, such as `external_user_id`. */
  readonly field: string;
  readonly rule: ProblemRule;
  readonly limit?: unknown;
  /** The name of the other field, for a problem with two. */
  readonly other?: string;
  /** The item of an array that the problem is about. */
  readonly item?: { readonly index: number; readonly value: unknown };
}

/** With a `field` alone, the message does not name the field that the error is about. Pages show the error there. */
export interface ApiErrorOptions extends Partial<FieldProblem> {
  /** Problems with other fields. Pages show all of them; the message is only about the first one. */
  readonly others?: readonly FieldProblem[];
  /** A page of the dashboard about the obstacle. Pages link to it after the message; responses do not contain it. */
  readonly inTheWay?: { readonly path: string; readonly name: string };
  /** Seconds to wait before a retry: the `Retry-After` header, and on 429 the field of the body. */
  readonly retryAfter?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The cursor to continue with: the field of the body. */
  readonly oldestCursor?: string;
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
    const { retryAfter, oldestCursor } = this.options;
    return {
      error_type: this.type,
      error_code: this.code,
      error_message: this.message,
      ...(this.status === 429 && retryAfter !== undefined ? { retry_after: retryAfter } : {}),
      ...(oldestCursor !== undefined && { oldest_cursor: oldestCursor }),
    };
  }
}

export interface ErrorDescription {
  readonly when: string;
  /** The message, or an example if it varies. */
  readonly message: string;
  /** Name of the response in the API document, for kinds that share a code. The default is the code: `InvalidField`. */
  readonly label?: string;
  /** Whether a 401 has a `WWW-Authenticate` header; the default is true. */
  readonly hasChallenge?: boolean;
}

const catalog: ErrorKind[] = [];

/**
 * One kind of error response. Each module declares its own kinds; the error table of the docs and the examples of the
 * API document are generated from them.
 */
export class ErrorKind {
  readonly when: string;
  readonly message: string;
  readonly hasChallenge: boolean;
  private readonly ownLabel: string | undefined;

  constructor(
    readonly status: number,
    readonly type: ErrorType,
    readonly code: ErrorCode,
    { when, message, label, hasChallenge = true }: ErrorDescription,
  ) {
    this.when = when;
    this.message = message;
    this.ownLabel = label;
    this.hasChallenge = hasChallenge && status === 401;
    catalog.push(this);
    if (!ERROR_CODES.includes(code)) ERROR_CODES.push(code);
  }

  /** Name in the documents; kinds that share a code can override it. */
  get name(): string {
    return this.code;
  }

  /** Name of the response in the API document, such as `InvalidField`. */
  get label(): string {
    const words = this.name.toLowerCase().split('_');
    return this.ownLabel ?? words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  }

  error(message: string = this.message, options: ApiErrorOptions = {}): ApiError {
    return new ApiError(this.type, this.code, message, this.status, options);
  }

  /** Returns what was found. @throws ApiError this one if nothing was */
  requireFound<Found>(found: Found | null | undefined | false | 0 | ''): Found {
    if (!found) throw this.error();
    return found;
  }
}

/** Returns every kind of error that the imported modules declare. */
export function errorCatalog(): readonly ErrorKind[] {
  return catalog;
}

/**
 * Reports that the service cannot start with its configuration, or cannot run a command. The message is written for
 * operators and says what to do, if possible; it is shown without a stack.
 */
export class OperatorError extends Error {
  constructor(sentence: string, options?: ErrorOptions) {
    super(sentence, options);
    this.name = new.target.name;
  }
}

/** Returns undefined if the work throws an `ApiError` with one of the statuses. */
export async function unlessStatus<Result>(
  statuses: readonly number[],
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError && statuses.includes(error.status)) return undefined;
    throw error;
  }
}
