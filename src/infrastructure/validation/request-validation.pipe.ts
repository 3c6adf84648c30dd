import { Injectable, ValidationPipe, type ValidationError } from '@nestjs/common';
import { INVALID_FIELD } from '../errors/index.js';

/**
 * Validates every body and query against its DTO. Unknown members are dropped (additive changes stay
 * compatible); the first problem in the order of the fields becomes the answer.
 */
@Injectable()
export class RequestValidationPipe extends ValidationPipe {
  constructor() {
    super({
      transform: true,
      whitelist: true,
      stopAtFirstError: true,
      exceptionFactory: (violations) => INVALID_FIELD.error(messageOf(violations[0])),
    });
  }
}

function messageOf(violation: ValidationError | undefined): string {
  const [message] = Object.values(violation?.constraints ?? {});
  return message ?? 'The request is invalid.';
}
