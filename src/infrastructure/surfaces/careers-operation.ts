import { applyDecorators, HttpCode, UseGuards } from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import { RATE_LIMIT_EXCEEDED } from '../errors/index.js';
import { DocumentedOperation, type OperationDocument } from '../openapi/index.js';
import { RateLimitGuard, type RateLimit } from '../rate-limiting/index.js';
import { commonErrors } from './operation-errors.js';

/** An operation of the careers surface. It takes no credentials and checks the rate limit before it reads the JSON body. */
export function CareersOperation(document: OperationDocument, limit: RateLimit): MethodDecorator {
  return applyDecorators(
    HttpCode(200),
    UseGuards(RateLimitGuard(limit, RATE_LIMIT_EXCEEDED)),
    ApiSecurity({}),
    DocumentedOperation('careers', {
      ...document,
      errors: [...document.errors, RATE_LIMIT_EXCEEDED, ...commonErrors(document)],
    }),
  );
}
