import {
  ApiError,
  ErrorKind,
  type ApiErrorOptions,
  type ErrorCode,
  type ErrorDescription,
  type ErrorType,
} from '../../../infrastructure/errors/index.js';
import { UNSUPPORTED_CONTENT_ENCODING } from '../../../infrastructure/http/index.js';

/**
 * The values of `error` (RFC 6749, sections 4.1.2.1 and 5.2; RFC 7591, section 3.2.2; RFC 8628, section 3.5; RFC 8707,
 * section 2).
 */
export const OAUTH_ERROR_CODES = [
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'invalid_scope',
  'unsupported_grant_type',
  'unsupported_response_type',
  'invalid_target',
  'invalid_redirect_uri',
  'invalid_client_metadata',
  'authorization_pending',
  'slow_down',
  'access_denied',
  'expired_token',
  'server_error',
  'temporarily_unavailable',
] as const;
export type OAuthErrorCode = (typeof OAUTH_ERROR_CODES)[number];

/** An error with the code that OAuth clients branch on. */
export class OAuthError extends ApiError {
  constructor(
    kind: ErrorKind,
    readonly oauthCode: OAuthErrorCode,
    message: string,
    options?: ApiErrorOptions,
    /** Seconds between polls from now on. */
    readonly interval?: number,
  ) {
    super(kind.type, kind.code, message, kind.status, options);
  }
}

/** One kind of OAuth error. Several kinds share an `error_code` of this API and differ in their OAuth code. */
export class OAuthErrorKind extends ErrorKind {
  private readonly oauthCode: OAuthErrorCode;

  constructor(
    status: number,
    type: ErrorType,
    code: ErrorCode,
    { oauthCode, ...description }: ErrorDescription & { readonly oauthCode: OAuthErrorCode },
  ) {
    super(status, type, code, description);
    this.oauthCode = oauthCode;
  }

  override get name(): string {
    return this.oauthCode;
  }

  override error(message: string = this.message, options?: ApiErrorOptions): OAuthError {
    return new OAuthError(this, this.oauthCode, message, options);
  }

  withInterval(seconds: number): OAuthError {
    return new OAuthError(this, this.oauthCode, this.message, {}, seconds);
  }
}

export const AUTHORIZATION_PENDING = new OAuthErrorKind(400, 'USER_ERROR', 'ONGOING_OPERATION', {
  oauthCode: 'authorization_pending',
  when: 'The user has not approved or declined the device yet (`authorization_pending`): continue polling.',
  message: 'The user has not decided yet. Poll again after the interval.',
});

export const SLOW_DOWN = new OAuthErrorKind(400, 'INVALID_REQUEST', 'RATE_LIMIT_EXCEEDED', {
  oauthCode: 'slow_down',
  when: 'The device polled too early (`slow_down`): from now on, wait `interval` seconds between polls.',
  message: 'The poll came too early. The interval has been raised.',
});

export const ACCESS_DENIED = new OAuthErrorKind(400, 'USER_ERROR', 'NO_ACCESS', {
  oauthCode: 'access_denied',
  when: 'The user declined the device, or the user who approved it no longer has access to the dashboard (`access_denied`).',
  message: 'The request was declined.',
});

export const EXPIRED_TOKEN = new OAuthErrorKind(400, 'INVALID_REQUEST', 'INVALID_FIELD', {
  oauthCode: 'expired_token',
  when: 'The device code has expired (`expired_token`): request a new one.',
  message: 'The device code has expired. Request a new one.',
});

export const INVALID_GRANT = new OAuthErrorKind(400, 'INVALID_REQUEST', 'INVALID_FIELD', {
  oauthCode: 'invalid_grant',
  when: 'The device code is unknown, has already been used or belongs to another client, or the assertion is not accepted (`invalid_grant`).',
  message: 'The device code is not valid.',
});

export const UNSUPPORTED_GRANT_TYPE = new OAuthErrorKind(400, 'INVALID_REQUEST', 'INVALID_FIELD', {
  oauthCode: 'unsupported_grant_type',
  when: 'The grant type is not supported (`unsupported_grant_type`).',
  message: 'The grant type is not supported.',
});

export const UNAUTHORIZED_CLIENT = new OAuthErrorKind(400, 'INVALID_REQUEST', 'NO_ACCESS', {
  oauthCode: 'unauthorized_client',
  when: 'The client sent its secret, which cannot be exchanged for access tokens: it needs an API key (`unauthorized_client`).',
  message: 'Send an API key in place of the secret.',
});

export const INVALID_SCOPE = new OAuthErrorKind(400, 'INVALID_REQUEST', 'INSUFFICIENT_SCOPE', {
  oauthCode: 'invalid_scope',
  when: 'The API key lacks a scope that the access token should have (`invalid_scope`).',
  message: 'The API key lacks a scope that was requested.',
});

export const INVALID_REQUEST = new OAuthErrorKind(400, 'INVALID_REQUEST', 'INVALID_FIELD', {
  oauthCode: 'invalid_request',
  when: 'A parameter is missing or given more than once with different values, the body is not a form, or the request has an `Authorization` header that the endpoint or the grant does not accept (`invalid_request`).',
  message: 'The client id field is required.',
});

export const INVALID_CLIENT = new OAuthErrorKind(401, 'INVALID_INPUT', 'INVALID_API_KEYS', {
  oauthCode: 'invalid_client',
  when: 'There is no client with this ID (`invalid_client`).',
  message: 'The client ID is not known.',
  // The client did not authenticate (RFC 6749, section 5.2), and OAuth libraries report a challenge instead of the error.
  hasChallenge: false,
});

/** The body of a form has an unsupported compression. Another media type is an `INVALID_REQUEST` (RFC 6749, section 5.2). */
export const UNSUPPORTED_ENCODING = new OAuthErrorKind(415, 'INVALID_REQUEST', 'UNSUPPORTED_MEDIA_TYPE', {
  oauthCode: 'invalid_request',
  when: 'The `Content-Encoding` of the form is not supported (`invalid_request`). A body that is not a form gets 400.',
  message: UNSUPPORTED_CONTENT_ENCODING,
});
