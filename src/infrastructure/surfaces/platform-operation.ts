import { applyDecorators, HttpCode, UseGuards, type CanActivate, type Type } from '@nestjs/common';
import { ApiBasicAuth, ApiSecurity } from '@nestjs/swagger';
import { BasicAuthGuard } from '../auth/index.js';
import { INVALID_API_KEYS, TOO_MANY_REQUESTS } from '../errors/index.js';
import { DocumentedOperation, type OperationDocument } from '../openapi/index.js';
import { PlatformRateLimitConfiguration, RateLimitGuard, type RateLimit } from '../rate-limiting/index.js';
import { commonErrors } from './operation-errors.js';

/** Counts the requests of a client to all operations without a limit of their own together. */
export const PLATFORM_LIMIT: RateLimit = {
  name: 'platform',
  requests: (configuration) => configuration.get(PlatformRateLimitConfiguration).requestsPerMinute,
  per: 'client',
  seconds: 60,
};

interface Checks {
  /** Checked after the credentials, before `guards` (429). The default is one limit for all operations of a client. */
  readonly limit?: RateLimit;
  /** Access checks that run before the body is read (403). */
  readonly guards?: readonly CanActivate[];
}

/**
 * An operation of the platform API. Checks credentials, the rate limit and access before it reads the JSON body
 * (specification, "Order of checks").
 */
export function PlatformOperation(document: OperationDocument, checks: Checks = {}): MethodDecorator {
  const limited = { ...checks, limit: checks.limit ?? PLATFORM_LIMIT };
  return applyDecorators(
    HttpCode(200),
    UseGuards(BasicAuthGuard, ...guardsOf(limited)),
    ApiBasicAuth('basic'),
    DocumentedOperation('platform', {
      ...document,
      errors: [...errorsOf(document, limited), INVALID_API_KEYS],
    }),
  );
}

/** An operation of the platform API for the client SDK, which cannot keep a secret and sends no credentials. */
export function SdkOperation(document: OperationDocument, checks: Checks): MethodDecorator {
  return applyDecorators(
    HttpCode(200),
    UseGuards(...guardsOf(checks)),
    ApiSecurity({}),
    DocumentedOperation('platform', { ...document, errors: errorsOf(document, checks) }),
  );
}

function guardsOf({ limit, guards = [] }: Checks): (CanActivate | Type<CanActivate>)[] {
  return [...(limit ? [RateLimitGuard(limit, TOO_MANY_REQUESTS)] : []), ...guards];
}

function errorsOf(document: OperationDocument, { limit }: Checks): OperationDocument['errors'] {
  return [...document.errors, ...(limit ? [TOO_MANY_REQUESTS] : []), ...commonErrors(document)];
}
