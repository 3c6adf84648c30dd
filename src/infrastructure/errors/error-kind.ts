import { ApiError, type ApiErrorOptions } from './api-error.js';
import type { ErrorCode, ErrorType } from './enumerations.js';

/** What a catalogue says of one kind of error. */
export interface ErrorDescription {
  readonly status: number;
  readonly type: ErrorType;
  readonly code: ErrorCode;
  /** When the caller gets it; published in the documents. */
  readonly when: string;
  /** The message, where it is always the same; otherwise an example of it. */
  readonly message: string;
}

const catalogue: ErrorKind[] = [];

/**
 * One kind of error that the API answers with. Each module declares its own; the error table of the
 * docs and the examples of the API document are generated from them.
 */
export class ErrorKind {
  readonly status: number;
  readonly type: ErrorType;
  readonly code: ErrorCode;
  readonly when: string;
  readonly message: string;

  constructor(description: ErrorDescription) {
    this.status = description.status;
    this.type = description.type;
    this.code = description.code;
    this.when = description.when;
    this.message = description.message;
    catalogue.push(this);
  }

  /** What the documents call it; kinds that share a code may have names of their own. */
  get name(): string {
    return this.code;
  }

  /** An error of this kind to throw. */
  error(message: string = this.message, options: ApiErrorOptions = {}): ApiError {
    return new ApiError(this.type, this.code, message, this.status, options);
  }
}

/** Every kind of error that the imported modules declare. */
export function errorCatalogue(): readonly ErrorKind[] {
  return catalogue;
}
