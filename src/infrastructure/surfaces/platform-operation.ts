import { applyDecorators, HttpCode, UseGuards, type CanActivate, type Type } from '@nestjs/common';
import { ApiBasicAuth, ApiSecurity } from '@nestjs/swagger';
import { BasicAuthGuard } from '../auth/index.js';
import { INVALID_API_KEYS, TOO_MANY_REQUESTS } from '../errors/index.js';
import { DocumentedOperation, type OperationDocument } from '../openapi/index.js';
import { RateLimitGuard, type RateLimit } from '../rate-limiting/index.js';
import { commonErrors } from './operation-errors.js';

interface Checks {
  /** Checked after the credentials, before `guards` (429). */
  readonly limit?: RateLimit;
  /** Access checks that run before the body is read (403). */
  readonly guards?: readonly CanActivate[];
}

/**
 * An operation of the platform API. Checks credentials, the rate limit and access before it reads the JSON body
 * (specification, "Order of checks").
 */
export function PlatformOperation(document: OperationDocument, checks: Checks = {}): MethodDecorator {
  return applyDecorators(
    HttpCode(200),
    UseGuards(BasicAuthGuard, ...guardsOf(checks)),
    ApiBasicAuth('basic'),
    DocumentedOperation('platform', {
      ...document,
      errors: [...errorsOf(document, checks), INVALID_API_KEYS],
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
