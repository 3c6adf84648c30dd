import { ApiProperty } from '@nestjs/swagger';
import { ERROR_CODES, ERROR_TYPES } from '../errors/index.js';

/** The body of every error response. */
export class ErrorResponse {
  @ApiProperty({
    enum: ERROR_TYPES,
    enumName: 'ErrorType',
    description: 'Category of the error.',
    example: 'INVALID_REQUEST',
  })
  error_type!: string;

  @ApiProperty({
    enum: ERROR_CODES,
    enumName: 'ErrorCode',
    description: 'The error. Branch on this value.',
    example: 'INVALID_FIELD',
  })
  error_code!: string;

  @ApiProperty({
    type: String,
    minLength: 1,
    description: 'Message for people. The wording may change.',
    example: 'The external user id field is required.',
  })
  error_message!: string;

  @ApiProperty({
    type: 'integer',
    required: false,
    minimum: 1,
    description: 'Seconds to wait before you retry. Only present for rate-limit errors.',
    example: 12,
  })
  retry_after?: number;
}
