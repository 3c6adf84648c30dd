import type { ApiError } from '../../../infrastructure/errors/index.js';
import { OAuthError, type OAuthErrorCode } from './oauth-errors.js';

/** What errors of everybody's are called in OAuth, where their status says more than "invalid request". */
const CODE_OF_STATUS: Readonly<Record<number, OAuthErrorCode>> = {
  401: 'invalid_client',
  429: 'slow_down',
  500: 'server_error',
  503: 'temporarily_unavailable',
};

/** RFC 6749, section 5.2: no quotes, no backslashes, nothing but ASCII. */
const NOT_ALLOWED = /[^\x20-\x21\x23-\x5b\x5d-\x7e]/g;

/**
 * One body for two contracts: the fields of OAuth, without which its clients understand nothing, not even
 * that they are to go on polling, and those of every error of this API.
 */
export function oauthBodyOf(error: ApiError): object {
  const { oauthCode, interval } = error instanceof OAuthError ? error : { oauthCode: undefined };
  return {
    error: oauthCode ?? CODE_OF_STATUS[error.status] ?? 'invalid_request',
    error_description: error.message.replaceAll(NOT_ALLOWED, ''),
    ...(interval === undefined ? {} : { interval }),
    ...error.body,
  };
}
