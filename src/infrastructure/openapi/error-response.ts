import { ApiProperty } from '@nestjs/swagger';
import { ERROR_CODES, ERROR_TYPES } from '../errors/index.js';

/** The body of every answer that is not a success. */
export class ErrorResponse {
  @ApiProperty({
    enum: ERROR_TYPES,
    enumName: 'ErrorType',
    description: 'The kind of thing that went wrong.',
    example: 'INVALID_REQUEST',
  })
  error_type!: string;

  @ApiProperty({
    enum: ERROR_CODES,
    enumName: 'ErrorCode',
    description: 'What went wrong; branch on this.',
    example: 'INVALID_FIELD',
  })
  error_code!: string;

  @ApiProperty({
    type: String,
    minLength: 1,
    description: 'For people. The wording may change.',
    example: 'The external user id field is required.',
  })
  error_message!: string;

  @ApiProperty({
    type: 'integer',
    required: false,
    minimum: 1,
    description: 'Seconds until a new attempt makes sense. Present on rate-limit errors.',
    example: 12,
  })
  retry_after?: number;
}
