import { applyDecorators, HttpCode, UseGuards, type CanActivate, type Type } from '@nestjs/common';
import { ApiBasicAuth, ApiSecurity } from '@nestjs/swagger';
import { BasicAuthGuard } from '../auth/index.js';
import { INVALID_API_KEYS, TOO_MANY_REQUESTS } from '../errors/index.js';
import { DocumentedOperation, type OperationDocument } from '../openapi/index.js';
import { RateLimitGuard, type RateLimit } from '../rate-limiting/index.js';
import { commonErrors } from './operation-errors.js';

export interface PlatformOperationOptions extends OperationDocument {
  /** Checked after the credentials, before `guards` (429). */
  readonly limit?: RateLimit;
  /** Access checks that run before the body is read (403). */
  readonly guards?: readonly Type<CanActivate>[];
}

/**
 * An operation of the platform API. Checks credentials, the rate limit and access before it reads the JSON body
 * (contract, "Order of checks").
 */
export function PlatformOperation(options: PlatformOperationOptions): MethodDecorator {
  return applyDecorators(
    HttpCode(200),
    UseGuards(BasicAuthGuard, ...guardsOf(options)),
    ApiBasicAuth('basic'),
    DocumentedOperation('platform', {
      ...options,
      errors: [...errorsOf(options), INVALID_API_KEYS],
    }),
  );
}

/** An operation of the platform API for the client SDK, which cannot keep a secret and sends no credentials. */
export function SdkOperation(options: PlatformOperationOptions): MethodDecorator {
  return applyDecorators(
    HttpCode(200),
    UseGuards(...guardsOf(options)),
    ApiSecurity({}),
    DocumentedOperation('platform', { ...options, errors: errorsOf(options) }),
  );
}

function guardsOf({ limit, guards = [] }: PlatformOperationOptions): Type<CanActivate>[] {
  return [...(limit ? [RateLimitGuard(limit, TOO_MANY_REQUESTS)] : []), ...guards];
}

function errorsOf(options: PlatformOperationOptions): OperationDocument['errors'] {
  return [...options.errors, ...(options.limit ? [TOO_MANY_REQUESTS] : []), ...commonErrors(options)];
}
