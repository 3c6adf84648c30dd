import {
  applyDecorators,
  Catch,
  Header,
  HttpCode,
  UseFilters,
  UseGuards,
  type CanActivate,
  type Type,
} from '@nestjs/common';
import { ApiConsumes, ApiSecurity } from '@nestjs/swagger';
import {
  INSUFFICIENT_SCOPE,
  INVALID_API_KEYS,
  OAuthClientAuthGuard,
  ScopeGuard,
  TokenClientAuthGuard,
  type Scope,
} from '../../../infrastructure/auth/index.js';
import {
  bodyTooLarge,
  INTERNAL_ERROR,
  PAYLOAD_TOO_LARGE,
  RATE_LIMIT_EXCEEDED,
  SERVICE_UNAVAILABLE,
  UNSUPPORTED_MEDIA_TYPE,
  type ApiError,
} from '../../../infrastructure/errors/index.js';
import type { Surface } from '../../../infrastructure/config/index.js';
import {
  ExceptionFilter,
  FORM_LIMIT,
  FormBodyGuard,
  JsonBodyGuard,
  OpenToOtherOrigins,
  RepeatAfterSlowBody,
} from '../../../infrastructure/http/index.js';
import {
  DocumentedOperation,
  EnumProperty,
  ErrorResponse,
  IntegerProperty,
  TextProperty,
  withSharedMessages,
  type ErrorBodyDocument,
  type OperationDocument,
} from '../../../infrastructure/openapi/index.js';
import { perMinute, type RateLimit } from '../../../infrastructure/rate-limiting/index.js';
import { enumeration } from '../../../infrastructure/schemas/index.js';
import { RateLimitGuard, withScope } from '../../../infrastructure/surfaces/index.js';
import { OAuthConfiguration } from '../oauth.configuration.js';
import { confidentialTypesIn, type GrantClass } from './grant.js';
import { OAUTH_ERROR_CODES, OAuthError, UNSUPPORTED_ENCODING, type OAuthErrorCode } from './oauth-errors.js';

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
class OAuthExceptionFilter extends ExceptionFilter {
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

const OAUTH_ERROR_CODE = enumeration('OAuthErrorCode', OAUTH_ERROR_CODES, 'An error code of OAuth 2.0.');

class OAuthErrorResponse extends ErrorResponse {
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

interface OAuthChecks {
  /** The scope that API keys require: the endpoint takes Basic credentials, checked before the rate limit. Without it, a client only identifies itself. */
  readonly scope?: Scope;
  /** Defaults to `dashboard`. */
  readonly surface?: Surface;
  /** How the body is sent. Defaults to a form. */
  readonly body?: 'form' | 'json';
  /** Checked before the body is read; the default is one limit per IP address, and per issuer, for all OAuth endpoints. */
  readonly limit?: RateLimit;
  /** The grants of a token endpoint. The clients of some authenticate, after the form was read. */
  readonly grants?: readonly GrantClass[];
}

/** Generous, because an office full of devices polls from one address. */
const OAUTH_LIMIT = perMinute('oauth', 'address', OAuthConfiguration, 'requestsPerMinute');

/** The same for each API client that agents log in for: a hosted agent sends the requests of its users from few addresses. */
const ISSUER_LIMIT: RateLimit = { ...OAUTH_LIMIT, name: 'agent-oauth', per: 'issuer' };
/** How many API clients can reach a limit from one address: anyone can send any ID of a client. */
const ISSUERS_PER_ADDRESS = 10;

function limitOf(surface: Surface): RateLimit {
  return surface === 'connector' ? ISSUER_LIMIT : OAUTH_LIMIT;
}

/** Returns the guards of a limit. One per issuer has another limit for all issuers together. */
function limitGuards(limit: RateLimit): Type<CanActivate>[] {
  const total: RateLimit = {
    ...limit,
    name: `${limit.name}-of-address`,
    per: 'address',
    requests: (configuration) => limit.requests(configuration) * ISSUERS_PER_ADDRESS,
  };
  return (limit.per === 'issuer' ? [total, limit] : [limit]).map((each) =>
    RateLimitGuard(each, RATE_LIMIT_EXCEEDED),
  );
}

const FORM_TOO_LARGE = withSharedMessages('FormTooLarge', PAYLOAD_TOO_LARGE, bodyTooLarge(FORM_LIMIT));

const ERROR_BODY: ErrorBodyDocument = { model: OAuthErrorResponse, bodyOf: oauthBodyOf };

/** An OAuth endpoint: takes a form by default, and its errors have both the fields of OAuth and those of the API. */
export function OAuthOperation(
  document: OperationDocument,
  { scope, grants = [], surface = 'dashboard', body = 'form', limit = limitOf(surface) }: OAuthChecks = {},
): MethodDecorator {
  const credentials = scope ? [OAuthClientAuthGuard] : [];
  const access = scope ? [ScopeGuard(scope)] : [];
  const confidential = confidentialTypesIn(grants);
  const readBody = body === 'form' ? FormBodyGuard : JsonBodyGuard;
  return applyDecorators(
    HttpCode(document.status ?? 200),
    UseGuards(
      ...credentials,
      ...limitGuards(limit),
      ...access,
      readBody,
      RepeatAfterSlowBody(...credentials, ...access),
      ...(confidential.length > 0 ? [TokenClientAuthGuard(confidential)] : []),
    ),
    ...opened(surface),
    UseFilters(OAuthExceptionFilter),
    ApiSecurity(scope ? 'basic' : {}),
    ...(body === 'form' ? [ApiConsumes('application/x-www-form-urlencoded')] : []),
    DocumentedOperation(surface, {
      ...(scope ? withScope(document, scope) : document),
      errorBody: ERROR_BODY,
      errors: [
        ...document.errors,
        ...(scope ? [INVALID_API_KEYS, INSUFFICIENT_SCOPE] : []),
        RATE_LIMIT_EXCEEDED,
        ...(body === 'form'
          ? [FORM_TOO_LARGE, UNSUPPORTED_ENCODING]
          : [PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE]),
        INTERNAL_ERROR,
        SERVICE_UNAVAILABLE,
      ],
    }),
  );
}

/** Agents may run in a browser. They send no credentials of an organization. */
function opened(surface: Surface): MethodDecorator[] {
  return surface === 'connector' ? [OpenToOtherOrigins()] : [];
}

interface MetadataOptions {
  readonly surface?: Surface;
  /** Seconds for which clients and proxies may cache the metadata. */
  readonly maxAge: number;
  readonly guards?: readonly Type<CanActivate>[];
}

/** An operation that returns public metadata of an authorization server, to requests that the other guards admit. */
export function OAuthMetadata(
  document: OperationDocument,
  { surface = 'dashboard', maxAge, guards = [] }: MetadataOptions,
): MethodDecorator {
  return applyDecorators(
    Header('Cache-Control', `public, max-age=${maxAge}`),
    UseGuards(...limitGuards(limitOf(surface)), ...guards),
    ...opened(surface),
    UseFilters(OAuthExceptionFilter),
    ApiSecurity({}),
    DocumentedOperation(surface, {
      ...document,
      errorBody: ERROR_BODY,
      errors: [...document.errors, RATE_LIMIT_EXCEEDED],
    }),
  );
}
