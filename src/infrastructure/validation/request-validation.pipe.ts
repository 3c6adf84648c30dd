import { Injectable, type ArgumentMetadata, type PipeTransform } from '@nestjs/common';
import { plainToInstance, type ClassConstructor } from 'class-transformer';
import { getMetadataStorage, validateSync } from 'class-validator';
import { INVALID_FIELD } from '../errors/index.js';

/**
 * Makes a DTO of every body and query and validates it. Unknown members of a body are dropped (additive
 * changes stay compatible), unknown query parameters refused: a misspelt filter must not quietly return
 * everything. The first problem in the order of the fields becomes the answer.
 *
 * Our own few lines rather than Nest's ValidationPipe, because all our rules are synchronous and that
 * one waits for five promises and walks the value four times: 9 µs a request there, 4 µs here.
 */
@Injectable()
export class RequestValidationPipe implements PipeTransform {
  private readonly validated = new Map<unknown, boolean>();

  transform(value: unknown, { metatype, type }: ArgumentMetadata): unknown {
    if (!this.hasRules(metatype)) return value;
    const target = metatype as ClassConstructor<object>;
    if (type === 'query') refuseUnknown(value as object, target);
    const instance = plainToInstance(target, value);
    const [violation] = validateSync(instance, { whitelist: true, stopAtFirstError: true });
    if (!violation) return instance;
    const [message] = Object.values(violation.constraints ?? {});
    throw INVALID_FIELD.error(message);
  }

  /** Parameters such as the caller come through here too; they have no rules. */
  private hasRules(metatype: unknown): boolean {
    const known = this.validated.get(metatype);
    if (known !== undefined) return known;
    const rules =
      typeof metatype === 'function'
        ? getMetadataStorage().getTargetValidationMetadatas(metatype, '', false, false)
        : [];
    this.validated.set(metatype, rules.length > 0);
    return rules.length > 0;
  }
}

function refuseUnknown(query: object, target: ClassConstructor<object>): void {
  const known = new Set(
    getMetadataStorage()
      .getTargetValidationMetadatas(target, '', false, false)
      .map(({ propertyName }) => propertyName),
  );
  for (const [name, value] of Object.entries(query)) {
    // The name is the caller's own text: shown only as far as it looks like a name.
    const shown = /^[\w-]{1,64}$/.test(name) ? ` ${name}` : '';
    if (!known.has(name)) throw INVALID_FIELD.error(`The query parameter${shown} is not known.`);
    if (Array.isArray(value)) throw INVALID_FIELD.error(`The query parameter${shown} is given twice.`);
  }
}
