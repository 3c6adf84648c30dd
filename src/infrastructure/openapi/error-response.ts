import { EnumProperty, IntegerProperty, TextProperty } from './properties.js';
import { ERROR_CODES, ERROR_TYPES } from '../errors/index.js';
import { enumeration } from '../schemas/index.js';

const ERROR_TYPE = enumeration(
  'ErrorType',
  ERROR_TYPES,
  'Category of an error. More categories may be added.',
);
const ERROR_CODE = enumeration('ErrorCode', ERROR_CODES, 'The kind of error. More kinds may be added.');

/** The body of every error response. */
export class ErrorResponse {
  @EnumProperty(ERROR_TYPE, 'Category of the error.', 'INVALID_REQUEST')
  error_type!: string;

  @EnumProperty(ERROR_CODE, 'The error. Branch on this value.', 'INVALID_FIELD')
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
