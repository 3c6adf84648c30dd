import { applyDecorators, HttpCode, UseGuards, type CanActivate, type Type } from '@nestjs/common';
import { ApiConsumes, ApiSecurity } from '@nestjs/swagger';
import {
  INTERNAL_ERROR,
  PAYLOAD_TOO_LARGE,
  RATE_LIMIT_EXCEEDED,
  SERVICE_UNAVAILABLE,
  UNSUPPORTED_MEDIA_TYPE,
} from '../../../infrastructure/errors/index.js';
import {
  DocumentedOperation,
  withMessages,
  type ErrorBodyDocument,
  type OperationDocument,
} from '../../../infrastructure/openapi/index.js';
import { oauthBodyOf } from './oauth-error-format.js';
import { OAuthErrorResponse } from './oauth-error-response.js';

export interface OAuthOperationOptions extends OperationDocument {
  /** What a request must pass before its form is read: the rate, and credentials where there are any. */
  readonly guards: readonly Type<CanActivate>[];
  /** The scheme of the credentials; none where a client only says who it is. */
  readonly security?: string;
}

const ERROR_BODY: ErrorBodyDocument = { model: OAuthErrorResponse, bodyOf: oauthBodyOf };

/** An OAuth endpoint: takes a form, and its errors have the fields of OAuth and of this API. */
export function OAuthOperation(options: OAuthOperationOptions): MethodDecorator {
  return applyDecorators(
    HttpCode(200),
    UseGuards(...options.guards),
    ApiSecurity(options.security ?? {}),
    ApiConsumes('application/x-www-form-urlencoded'),
    DocumentedOperation('dashboard', {
      ...options,
      errorBody: ERROR_BODY,
      errors: [
        ...options.errors,
        RATE_LIMIT_EXCEEDED,
        withMessages(PAYLOAD_TOO_LARGE, 'The request body must not be larger than 16384 bytes.'),
        withMessages(
          UNSUPPORTED_MEDIA_TYPE,
          'The request body must be application/x-www-form-urlencoded in UTF-8.',
        ),
        INTERNAL_ERROR,
        SERVICE_UNAVAILABLE,
      ],
    }),
  );
}

/** A public metadata document of the authorization server. */
export function OAuthMetadata(options: OAuthOperationOptions): MethodDecorator {
  return applyDecorators(
    UseGuards(...options.guards),
    ApiSecurity({}),
    DocumentedOperation('dashboard', {
      ...options,
      errorBody: ERROR_BODY,
      errors: [...options.errors, RATE_LIMIT_EXCEEDED],
    }),
  );
}
