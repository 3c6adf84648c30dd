import { ApiProperty } from '@nestjs/swagger';
import { ErrorResponse } from '../../../infrastructure/openapi/index.js';
import { OAUTH_ERROR_CODES } from './oauth-errors.js';

/** The error body of the OAuth endpoints. */
export class OAuthErrorResponse extends ErrorResponse {
  @ApiProperty({
    enum: OAUTH_ERROR_CODES,
    enumName: 'OAuthErrorCode',
    description: 'The OAuth error code. Standard OAuth clients branch on this value.',
    example: 'authorization_pending',
  })
  error!: string;

  @ApiProperty({
    type: String,
    description: 'Message for people, like `error_message`.',
    example: 'The user has not decided yet. Poll again after the interval.',
  })
  error_description!: string;

  @ApiProperty({
    type: 'integer',
    required: false,
    minimum: 5,
    maximum: 30,
    description: 'Seconds to wait between polls from now on. Only present if a poll came too early.',
    example: 10,
  })
  interval?: number;
}
