import { applyDecorators, HttpCode, UseGuards } from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import { RATE_LIMIT_EXCEEDED } from '../errors/index.js';
import { DocumentedOperation, type OperationDocument } from '../openapi/index.js';
import { RateLimitGuard, type RateLimit } from '../rate-limiting/index.js';
import { commonErrors } from './operation-errors.js';

export interface CareersOperationOptions extends OperationDocument {
  readonly limit: RateLimit;
}

/** An operation of the careers surface. It takes no credentials and checks the rate limit before it reads the JSON body. */
export function CareersOperation(options: CareersOperationOptions): MethodDecorator {
  return applyDecorators(
    HttpCode(200),
    UseGuards(RateLimitGuard(options.limit, RATE_LIMIT_EXCEEDED)),
    ApiSecurity({}),
    DocumentedOperation('careers', {
      ...options,
      errors: [...options.errors, RATE_LIMIT_EXCEEDED, ...commonErrors(options)],
    }),
  );
}
