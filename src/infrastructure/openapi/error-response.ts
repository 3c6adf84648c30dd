import { EnumProperty, IntegerProperty, TextProperty } from './properties.js';
import { ERROR_CODES, ERROR_TYPES } from '../errors/index.js';

/** The body of every error response. */
export class ErrorResponse {
  @EnumProperty(ERROR_TYPES, 'Category of the error.', 'INVALID_REQUEST', { enumName: 'ErrorType' })
  error_type!: string;

  @EnumProperty(ERROR_CODES, 'The error. Branch on this value.', 'INVALID_FIELD', { enumName: 'ErrorCode' })
  error_code!: string;

  @TextProperty('Message for people. The wording may change.', 'The external user id field is required.', {
    minLength: 1,
  })
  error_message!: string;

  @IntegerProperty('Seconds to wait before you retry. Only present for rate-limit errors.', 12, {
    required: false,
    minimum: 1,
  })
  retry_after?: number;
}
