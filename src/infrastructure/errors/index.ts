export {
  ApiError,
  errorCatalog,
  ErrorKind,
  type ApiErrorOptions,
  type ErrorDescription,
} from './api-error.js';
export * from './common-errors.js';
export { ERROR_CODES, ERROR_TYPES, type ErrorCode, type ErrorType } from './enumerations.js';
export { OperatorError } from './operator-error.js';
