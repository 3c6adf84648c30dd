import {
  ErrorResponse,
  EnumProperty,
  IntegerProperty,
  TextProperty,
} from '../../../infrastructure/openapi/index.js';
import { enumeration } from '../../../infrastructure/schemas/index.js';
import { OAUTH_ERROR_CODES } from './oauth-errors.js';

const OAUTH_ERROR_CODE = enumeration('OAuthErrorCode', OAUTH_ERROR_CODES, 'An error code of OAuth 2.0.');

/** The error body of the OAuth endpoints. */
export class OAuthErrorResponse extends ErrorResponse {
  @EnumProperty(
    OAUTH_ERROR_CODE,
    'The OAuth error code. Standard OAuth clients branch on this value.',
    'authorization_pending',
  )
  error!: string;

  @TextProperty(
    'Message for people, like `error_message`.',
    'The user has not decided yet. Poll again after the interval.',
  )
  error_description!: string;

  @IntegerProperty('Seconds to wait between polls from now on. Only present if a poll came too early.', 10, {
    required: false,
    minimum: 5,
    maximum: 30,
  })
  interval?: number;
}
