export {
  ApiError,
  errorCatalog,
  ErrorKind,
  OperatorError,
  type ApiErrorOptions,
  type ErrorDescription,
} from './api-error.js';
export * from './common-errors.js';
export { listenProblem } from './listen-problem.js';
export { ERROR_CODES, ERROR_TYPES, type ErrorCode, type ErrorType } from './enumerations.js';
