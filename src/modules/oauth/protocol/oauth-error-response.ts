import { ApiProperty } from '@nestjs/swagger';
import { ErrorResponse } from '../../../infrastructure/openapi/index.js';
import { OAUTH_ERROR_CODES } from './oauth-errors.js';

/** The error body of the OAuth endpoints. */
export class OAuthErrorResponse extends ErrorResponse {
  @ApiProperty({
    enum: OAUTH_ERROR_CODES,
    enumName: 'OAuthErrorCode',
    description: 'What went wrong, in the words of OAuth; standard clients branch on this.',
    example: 'authorization_pending',
  })
  error!: string;

  @ApiProperty({
    type: String,
    description: 'For people, as `error_message`.',
    example: 'The user has not decided yet. Poll again after the interval.',
  })
  error_description!: string;

  @ApiProperty({
    type: 'integer',
    required: false,
    minimum: 5,
    maximum: 30,
    description: 'Seconds to wait between two polls from now on. Present where a poll came too early.',
    example: 10,
  })
  interval?: number;
}
