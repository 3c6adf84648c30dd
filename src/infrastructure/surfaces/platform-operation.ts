import { applyDecorators, HttpCode, UseGuards, type CanActivate, type Type } from '@nestjs/common';
import { ApiBasicAuth, ApiSecurity } from '@nestjs/swagger';
import { BasicAuthGuard } from '../auth/index.js';
import { INVALID_API_KEYS } from '../errors/index.js';
import { DocumentedOperation, type OperationDocument } from '../openapi/index.js';
import { commonErrors } from './operation-errors.js';

export interface PlatformOperationOptions extends OperationDocument {
  /** What stands between the credentials and the body, in this order: rate (429), access (403). */
  readonly guards?: readonly Type<CanActivate>[];
}

/**
 * An operation of the platform API: Basic credentials, then the guards; the JSON body is read after them
 * (contract, "Order of checks").
 */
export function PlatformOperation(options: PlatformOperationOptions): MethodDecorator {
  return applyDecorators(
    HttpCode(200),
    UseGuards(BasicAuthGuard, ...(options.guards ?? [])),
    ApiBasicAuth('basic'),
    DocumentedOperation('platform', {
      ...options,
      errors: [...options.errors, INVALID_API_KEYS, ...commonErrors(options)],
    }),
  );
}

/** An operation of the platform API for the client SDK, which has no credentials to keep: what it sends is enough. */
export function SdkOperation(options: PlatformOperationOptions): MethodDecorator {
  return applyDecorators(
    HttpCode(200),
    UseGuards(...(options.guards ?? [])),
    ApiSecurity({}),
    DocumentedOperation('platform', { ...options, errors: [...options.errors, ...commonErrors(options)] }),
  );
}
