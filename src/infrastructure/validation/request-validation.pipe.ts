import { Injectable, ValidationPipe, type ArgumentMetadata } from '@nestjs/common';
import { INVALID_FIELD } from '../errors/index.js';
import { MESSAGES } from './messages.js';
import { validationsOf } from './validations.js';

/**
 * Nest's pipe; the first violation in the order of the fields becomes the error. Unknown members of a body are
 * dropped, so that additive changes stay compatible. Unknown query parameters are refused, so that a misspelled filter
 * does not quietly return everything.
 */
@Injectable()
export class RequestValidationPipe extends ValidationPipe {
  constructor() {
    super({
      transform: true,
      whitelist: true,
      stopAtFirstError: true,
      // `@JsonBody()` is a custom decorator.
      validateCustomDecorators: true,
      exceptionFactory: ([violation]) => INVALID_FIELD.error(Object.values(violation?.constraints ?? {})[0]),
    });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (metadata.type === 'query') refuseUnknown(value, metadata.metatype);
    return super.transform(value, metadata);
  }

  /**
   * Validates DTOs only. Other parameters, such as forms and the authenticated client, must not be copied: TypeScript
   * emits `Function` as the type of a class that is only imported as a type.
   */
  protected override toValidate({ metatype }: ArgumentMetadata): boolean {
    return validationsOf(metatype).length > 0;
  }

  /** Keeps names such as `__proto__`, which session metadata may have; `@JsonBody()` removes what is dangerous. */
  protected override stripProtoKeys(): void {}
}

/** Applies to queries with a DTO, not to parameters that a handler takes one by one. */
function refuseUnknown(query: unknown, target: unknown): void {
  const known = new Set(validationsOf(target).map(({ propertyName }) => propertyName));
  if (known.size === 0) return;
  for (const [name, value] of Object.entries(query as object)) {
    // The client chose the name: it is shown only if it looks like one.
    const shown = /^[\w-]{1,64}$/.test(name) ? name : '';
    if (!known.has(name)) throw INVALID_FIELD.error(MESSAGES.unknownParameter(shown));
    if (Array.isArray(value)) throw INVALID_FIELD.error(MESSAGES.repeatedParameter(shown));
  }
}
