import {
  applyDecorators,
  HttpCode,
  UseFilters,
  UseGuards,
  UseInterceptors,
  type CanActivate,
  type Type,
} from '@nestjs/common';
import { ApiBasicAuth, ApiExcludeEndpoint, ApiSecurity } from '@nestjs/swagger';
import {
  accessInWords,
  BasicAuthGuard,
  CROSS_SITE_REQUEST,
  DashboardAuthGuard,
  DashboardPermissionGuard,
  INSUFFICIENT_ROLE,
  INSUFFICIENT_SCOPE,
  INVALID_ACCESS_TOKEN,
  INVALID_API_KEYS,
  INVALID_SERVICE_TOKEN,
  McpTokenAuthGuard,
  missingServiceScope,
  OTHER_ENVIRONMENT,
  RequirePermission,
  SECOND_FACTOR_REQUIRED,
  ScopeGuard,
  ServiceScopeGuard,
  ServiceTokenAuthGuard,
  type ApiPermission,
  type Scope,
  type ServiceScope,
} from '../auth/index.js';
import type { Surface } from '../config/index.js';
import {
  ENVIRONMENT_MISMATCH,
  INTERNAL_ERROR,
  NO_ACCESS,
  PAYLOAD_TOO_LARGE,
  RATE_LIMIT_EXCEEDED,
  SERVICE_UNAVAILABLE,
  TOO_MANY_REQUESTS,
  UNSUPPORTED_MEDIA_TYPE,
} from '../errors/index.js';
import {
  JsonBodyGuard,
  OnSurface,
  OpenToOtherOrigins,
  OriginGuard,
  RepeatAfterSlowBody,
} from '../http/index.js';
import {
  DocumentedOperation,
  resolveDescription,
  withSharedMessages,
  type ConfigurationOf,
  type OperationDocument,
} from '../openapi/index.js';
import {
  DashboardRateLimitConfiguration,
  perMinute,
  PlatformRateLimitConfiguration,
  type RateLimit,
} from '../rate-limiting/index.js';
import { CONNECTOR_LIMIT, JsonRpcExceptionFilter, JsonRpcMessageGuard } from './json-rpc.js';
import { OrganizationQueue } from './organization-queue.interceptor.js';
import { RateLimitGuard } from './rate-limit.guard.js';

/** Counts the requests of a client to all operations without a limit of their own together. */
const PLATFORM_LIMIT = perMinute('platform', 'client', PlatformRateLimitConfiguration, 'requestsPerMinute');

/** Counts the requests of a user to all operations together, both with access tokens and with sessions. */
export const DashboardLimitGuard = RateLimitGuard(
  perMinute('dashboard', 'user', DashboardRateLimitConfiguration, 'dashboardRequestsPerMinute'),
  RATE_LIMIT_EXCEEDED,
);

type Guards = readonly (CanActivate | Type<CanActivate>)[];
type Errors = OperationDocument['errors'];

interface PlatformChecks {
  /** The default is one limit for all operations of a client. */
  readonly limit?: RateLimit;
  /** Access checks (403). */
  readonly guards?: Guards;
}

/** An operation of the platform API. @param scope that an API key requires */
export function PlatformOperation(
  document: OperationDocument,
  scope: Scope,
  { limit = PLATFORM_LIMIT, guards = [] }: PlatformChecks = {},
): MethodDecorator {
  return applyDecorators(
    guarded(document, {
      credentials: BasicAuthGuard,
      limit: RateLimitGuard(limit, TOO_MANY_REQUESTS),
      access: [ScopeGuard(scope), ...guards],
    }),
    // In this order, generated clients that send all credentials that they have end with those of the API client.
    ApiSecurity('bearer'),
    ApiBasicAuth('basic'),
    documented('platform', withScope(document, scope), [
      TOO_MANY_REQUESTS,
      INSUFFICIENT_SCOPE,
      ...commonErrors(document),
      INVALID_API_KEYS,
    ]),
  );
}

/** An operation of the platform API for the client SDK, which cannot keep a secret and sends no credentials. */
export function SdkOperation(
  document: OperationDocument,
  { limit }: { readonly limit: RateLimit },
): MethodDecorator {
  return applyDecorators(
    guarded(document, { limit: RateLimitGuard(limit, TOO_MANY_REQUESTS) }),
    OpenToOtherOrigins(),
    ApiSecurity({}),
    documented('platform', document, [TOO_MANY_REQUESTS, ...commonErrors(document)]),
  );
}

/** An operation of the dashboard API. The permission of the same name says what it requires. */
export function DashboardOperation(document: OperationDocument, permission: ApiPermission): MethodDecorator {
  return applyDecorators(
    RequirePermission(permission),
    guarded(document, {
      credentials: DashboardAuthGuard,
      limit: DashboardLimitGuard,
      access: [DashboardPermissionGuard],
    }),
    UseInterceptors(OrganizationQueue),
    ApiSecurity('bearer'),
    ApiSecurity('session'),
    documented(
      'dashboard',
      withSentence(
        { ...document, action: permission.action, scope: permission.token },
        accessInWords(permission),
      ),
      [...dashboardErrors(permission), ...commonErrors(document)],
    ),
  );
}

/** An operation for the platform's own services. Only requests with wrong tokens are limited (429). */
export function InternalOperation(
  document: OperationDocument,
  scope: ServiceScope,
  readBody: Type<CanActivate> = JsonBodyGuard,
): MethodDecorator {
  return applyDecorators(
    guarded(document, { credentials: ServiceTokenAuthGuard, access: [ServiceScopeGuard(scope)] }, readBody),
    ApiSecurity('service-token'),
    documented('internal', withSentence(document, `Requires the scope \`${scope}\`.`), [
      withSharedMessages('InvalidServiceToken', INVALID_ACCESS_TOKEN, INVALID_SERVICE_TOKEN),
      TOO_MANY_REQUESTS,
      withSharedMessages(labelOf(scope), INSUFFICIENT_SCOPE, missingServiceScope(scope)),
      ...commonErrors(document),
    ]),
  );
}

/** An operation of the careers surface, which takes no credentials. */
export function CareersOperation(
  document: OperationDocument,
  { limit }: { readonly limit: RateLimit },
): MethodDecorator {
  return applyDecorators(
    guarded(document, { limit: RateLimitGuard(limit, RATE_LIMIT_EXCEEDED) }),
    OpenToOtherOrigins(),
    ApiSecurity({}),
    documented('careers', document, [RATE_LIMIT_EXCEEDED, ...commonErrors(document)]),
  );
}

/** A route of the Model Context Protocol. JSON-RPC has its own descriptions of methods, so the API document lacks it. */
export function ConnectorRoute(): MethodDecorator {
  return applyDecorators(
    OnSurface('connector'),
    OpenToOtherOrigins(),
    ApiExcludeEndpoint(),
    UseGuards(
      OriginGuard,
      McpTokenAuthGuard,
      RateLimitGuard(CONNECTOR_LIMIT, TOO_MANY_REQUESTS),
      JsonRpcMessageGuard,
      RepeatAfterSlowBody(McpTokenAuthGuard),
    ),
    UseFilters(JsonRpcExceptionFilter),
  );
}

interface OperationGuards {
  readonly credentials?: Type<CanActivate>;
  readonly limit?: Type<CanActivate>;
  readonly access?: Guards;
}

/**
 * Applies the guards, in the order of the specification ("Order of checks"): credentials (401), rate limit (429), access (403).
 * The body is read after them, so that nothing of the body of a refused request is received. All but the limit run again after a body
 * that took long to arrive.
 */
function guarded(
  { status, body }: OperationDocument,
  { credentials, limit, access = [] }: OperationGuards,
  readBody: Type<CanActivate> = JsonBodyGuard,
): MethodDecorator {
  const identified = credentials ? [credentials] : [];
  const limited = limit ? [limit] : [];
  const ofBody = body ? [readBody, RepeatAfterSlowBody(...identified, ...access)] : [];
  return applyDecorators(HttpCode(status ?? 200), UseGuards(...identified, ...limited, ...access, ...ofBody));
}

/** Adds the scope that API keys require. */
export function withScope(document: OperationDocument, scope: Scope): OperationDocument {
  return withSentence({ ...document, scope }, `API keys require the scope \`${scope}\`.`);
}

/** Adds what the operation requires to its description. */
function withSentence(document: OperationDocument, sentence: string): OperationDocument {
  return {
    ...document,
    description: (configurationOf) =>
      `${resolveDescription(document.description, configurationOf)}\n\n${sentence}`,
  };
}

/** Assigns the operation to its surface, and documents it with the errors of the guards and its action in the audit log. */
function documented(surface: Surface, document: OperationDocument, errors: Errors): MethodDecorator {
  const { action } = document;
  const audited = action === undefined ? document : withSentence(document, `Audited as \`${action}\`.`);
  return DocumentedOperation(surface, { ...audited, errors: [...document.errors, ...errors] });
}

/** Returns the errors that any operation may respond with; a JSON body adds some. */
function commonErrors({ body, errors }: OperationDocument): Errors {
  const own = errors.map((error) => ('kind' in error ? error.kind : error));
  const ofBody = [PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE].filter((kind) => !own.includes(kind));
  return [...(body ? ofBody : []), INTERNAL_ERROR, SERVICE_UNAVAILABLE];
}

/** Returns the errors of requests without the permission, or over the limit. */
function dashboardErrors({ token, role }: ApiPermission): Errors {
  return [
    INVALID_ACCESS_TOKEN,
    RATE_LIMIT_EXCEEDED,
    NO_SECOND_FACTOR,
    ...(token === 'any' ? [] : [INSUFFICIENT_SCOPE, FROM_OTHER_SITE]),
    ...(role === undefined ? [] : [INSUFFICIENT_ROLE]),
  ];
}

/** Errors of operations that call `AccessibleClients.requested()`. */
export const ENVIRONMENT_ERRORS = [
  withSharedMessages('OtherEnvironment', ENVIRONMENT_MISMATCH, OTHER_ENVIRONMENT),
];

/** Errors (403) of a login. */
const NO_SECOND_FACTOR = withSharedMessages('SecondFactorRequired', NO_ACCESS, SECOND_FACTOR_REQUIRED);
const FROM_OTHER_SITE = withSharedMessages('CrossSiteRequest', NO_ACCESS, CROSS_SITE_REQUEST);

/** `events:publish` -> `MissingEventsPublish` */
function labelOf(scope: ServiceScope): string {
  return `Missing${scope.replaceAll(/(?:^|\W)(\w)/g, (_, letter: string) => letter.toUpperCase())}`;
}

/** Returns a sentence about the limits of the operations that have no limit of their own, for the API document. */
export function describeLimits(configurationOf: ConfigurationOf): string {
  const { requestsPerMinute } = configurationOf(PlatformRateLimitConfiguration);
  const { dashboardRequestsPerMinute } = configurationOf(DashboardRateLimitConfiguration);
  return (
    `The platform API accepts ${requestsPerMinute} requests per minute per client, and the dashboard API ` +
    `${dashboardRequestsPerMinute} per minute per user, across all operations.`
  );
}
