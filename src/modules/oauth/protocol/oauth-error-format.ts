import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { ApiError } from '../../../infrastructure/errors/index.js';
import { ErrorFormats, type ErrorFormat } from '../../../infrastructure/http/index.js';
import { OAuthError, type OAuthErrorCode } from './oauth-errors.js';

/** Paths whose errors are OAuth errors, including unknown paths below /oauth and wrong methods. */
const OAUTH_PATHS = /^\/(?:oauth(?:\/|$)|\.well-known\/(?:oauth-authorization-server|jwks\.json)$)/;

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
@Injectable()
export class OAuthErrorFormat implements ErrorFormat, OnModuleInit {
  constructor(private readonly formats: ErrorFormats) {}

  onModuleInit(): void {
    this.formats.register(this);
  }

  appliesTo(request: Request): boolean {
    return OAUTH_PATHS.test(request.path);
  }

  send(error: ApiError, _request: Request, response: Response): void {
    response.status(error.status).set(error.headers).json(oauthBodyOf(error));
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
