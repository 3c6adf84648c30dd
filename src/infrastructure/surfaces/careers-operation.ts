import { applyDecorators, HttpCode, UseGuards, type CanActivate, type Type } from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import { DocumentedOperation, type OperationDocument } from '../openapi/index.js';
import { commonErrors } from './operation-errors.js';

export interface CareersOperationOptions extends OperationDocument {
  /** What a request must pass before its body is read: the rate limit. */
  readonly guards: readonly Type<CanActivate>[];
}

/** An operation of the careers surface: no credentials, a JSON body. */
export function CareersOperation(options: CareersOperationOptions): MethodDecorator {
  return applyDecorators(
    HttpCode(200),
    UseGuards(...options.guards),
    ApiSecurity({}),
    DocumentedOperation('careers', { ...options, errors: [...options.errors, ...commonErrors(options)] }),
  );
}
