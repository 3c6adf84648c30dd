import { ApiError, type ApiErrorOptions } from './api-error.js';
import type { ErrorCode, ErrorType } from './enumerations.js';

/** What the documents say about one kind of error. */
export interface ErrorDescription {
  /** When clients get the error. */
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

  /** Returns an error of this kind, to be thrown. */
  error(message: string = this.message, options: ApiErrorOptions = {}): ApiError {
    return new ApiError(this.type, this.code, message, this.status, options);
  }
}

/** Returns every kind of error that the imported modules declare. */
export function errorCatalog(): readonly ErrorKind[] {
  return catalog;
}
