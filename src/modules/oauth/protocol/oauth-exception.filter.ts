import { Catch } from '@nestjs/common';
import type { ApiError } from '../../../infrastructure/errors/index.js';
import { ExceptionFilter } from '../../../infrastructure/http/index.js';
import { OAuthError, type OAuthErrorCode } from './oauth-errors.js';

/** The OAuth codes of errors that are not specific to OAuth. */
const CODE_OF_STATUS: Readonly<Record<number, OAuthErrorCode>> = {
  401: 'invalid_client',
  429: 'slow_down',
  500: 'server_error',
  503: 'temporarily_unavailable',
};

/** RFC 6749, section 5.2, allows only printable ASCII without quotes and backslashes. */
const FORBIDDEN_IN_DESCRIPTION = /[^\x20-\x21\x23-\x5b\x5d-\x7e]/g;

/** Sends the errors of the OAuth endpoints with the fields that OAuth clients need besides those of this API. */
@Catch()
export class OAuthExceptionFilter extends ExceptionFilter {
  protected override bodyOf(error: ApiError): object {
    return oauthBodyOf(error);
  }
}

/**
 * Returns a body with the fields of OAuth (RFC 6749, section 5.2) and those of every error of this API. OAuth
 * clients stop polling when `error` is missing.
 */
export function oauthBodyOf(error: ApiError): object {
  const { oauthCode, interval } = error instanceof OAuthError ? error : { oauthCode: undefined };
  return {
    error: oauthCode ?? CODE_OF_STATUS[error.status] ?? 'invalid_request',
    error_description: error.message.replaceAll(FORBIDDEN_IN_DESCRIPTION, ''),
    ...(interval === undefined ? {} : { interval }),
    ...error.body,
  };
}
