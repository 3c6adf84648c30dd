import {
  applyDecorators,
  HttpCode,
  UseFilters,
  UseGuards,
  type CanActivate,
  type Type,
} from '@nestjs/common';
import { ApiConsumes, ApiSecurity } from '@nestjs/swagger';
import { OAuthClientAuthGuard } from '../../../infrastructure/auth/index.js';
import {
  INTERNAL_ERROR,
  INVALID_API_KEYS,
  PAYLOAD_TOO_LARGE,
  RATE_LIMIT_EXCEEDED,
  SERVICE_UNAVAILABLE,
} from '../../../infrastructure/errors/index.js';
import {
  DocumentedOperation,
  withSharedMessages,
  type ErrorBodyDocument,
  type OperationDocument,
} from '../../../infrastructure/openapi/index.js';
import type { RateLimit } from '../../../infrastructure/rate-limiting/index.js';
import { RateLimitGuard } from '../../../infrastructure/surfaces/index.js';
import { OAuthConfiguration } from '../oauth.configuration.js';
import { oauthBodyOf, OAuthExceptionFilter } from './oauth-exception.filter.js';
import { UNSUPPORTED_ENCODING } from './oauth-errors.js';
import { OAuthErrorResponse } from './oauth-error-response.js';

interface OAuthChecks {
  /** Basic credentials, checked before the rate limit; without them, a client only identifies itself. */
  readonly security?: 'basic';
  /** Checked before the form is read; the default is one limit per IP address for all OAuth endpoints. */
  readonly limit?: RateLimit;
}

/** Generous, because an office full of devices polls from one address. */
const OAUTH_LIMIT: RateLimit = {
  name: 'oauth',
  requests: (configuration) => configuration.get(OAuthConfiguration).requestsPerMinute,
  per: 'address',
  seconds: 60,
};

const FORM_TOO_LARGE = withSharedMessages(
  'FormTooLarge',
  PAYLOAD_TOO_LARGE,
  'The request body must not be larger than 16384 bytes.',
);

const ERROR_BODY: ErrorBodyDocument = { model: OAuthErrorResponse, bodyOf: oauthBodyOf };

/** An OAuth endpoint: takes a form, and its errors have both the fields of OAuth and those of the API. */
export function OAuthOperation(
  document: OperationDocument,
  { security, limit = OAUTH_LIMIT }: OAuthChecks = {},
): MethodDecorator {
  return applyDecorators(
    HttpCode(200),
    UseGuards(...(security ? [OAuthClientAuthGuard] : []), RateLimitGuard(limit, RATE_LIMIT_EXCEEDED)),
    UseFilters(OAuthExceptionFilter),
    ApiSecurity(security ?? {}),
    ApiConsumes('application/x-www-form-urlencoded'),
    DocumentedOperation('dashboard', {
      ...document,
      errorBody: ERROR_BODY,
      errors: [
        ...document.errors,
        ...(security ? [INVALID_API_KEYS] : []),
        RATE_LIMIT_EXCEEDED,
        FORM_TOO_LARGE,
        UNSUPPORTED_ENCODING,
        INTERNAL_ERROR,
        SERVICE_UNAVAILABLE,
      ],
    }),
  );
}

/** An operation that returns public metadata of this authorization server, to requests that the other guards admit. */
export function OAuthMetadata(document: OperationDocument, ...guards: Type<CanActivate>[]): MethodDecorator {
  return applyDecorators(
    UseGuards(RateLimitGuard(OAUTH_LIMIT, RATE_LIMIT_EXCEEDED), ...guards),
    UseFilters(OAuthExceptionFilter),
    ApiSecurity({}),
    DocumentedOperation('dashboard', {
      ...document,
      errorBody: ERROR_BODY,
      errors: [...document.errors, RATE_LIMIT_EXCEEDED],
    }),
  );
}
