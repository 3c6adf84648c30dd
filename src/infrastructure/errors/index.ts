export { ApiError, type ApiErrorOptions } from './api-error.js';
export * from './common-errors.js';
export { ERROR_CODES, ERROR_TYPES, type ErrorCode, type ErrorType } from './enumerations.js';
export { errorCatalog, ErrorKind, type ErrorDescription } from './error-kind.js';
export { OperatorError } from './operator-error.js';
