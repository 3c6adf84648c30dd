import { Injectable, type ArgumentMetadata, type PipeTransform } from '@nestjs/common';
import { plainToInstance, type ClassConstructor } from 'class-transformer';
import { validateSync } from 'class-validator';
import { INVALID_FIELD } from '../errors/index.js';
import { MESSAGES } from './messages.js';
import { isMissing } from './text.js';
import { validationsOf } from './validations.js';

/**
 * Turns bodies and queries into DTOs. The first violation in the order of the fields becomes the error. Unknown members
 * of a body are dropped, so that additive changes stay compatible. Unknown and blank query parameters are rejected, so
 * that a misspelled or empty filter does not quietly return everything. docs/decisions/0017-validation-pipe.md compares
 * it with Nest's pipe.
 */
@Injectable()
export class RequestValidationPipe implements PipeTransform {
  /** Returns the DTO. Returns other parameters, such as forms and the authenticated client, unchanged. */
  transform(value: unknown, { metatype, type }: ArgumentMetadata): unknown {
    const validations = validationsOf(metatype);
    if (validations.length === 0) return value;
    if (type === 'query')
      rejectUnknown(value as object, new Set(validations.map((each) => each.propertyName)));
    const dto = validated(metatype as ClassConstructor<object>, value as object);
    if (type === 'query') rejectBlank(value as object);
    return dto;
  }
}

/**
 * Turns a JSON object into a DTO.
 *
 * @throws ApiError INVALID_FIELD with the first violation in the order of the fields
 */
export function validated<Dto extends object>(type: ClassConstructor<Dto>, value: object): Dto {
  const dto = plainToInstance(type, value);
  const [violation] = validateSync(dto, { whitelist: true, stopAtFirstError: true });
  if (violation) throw INVALID_FIELD.error(Object.values(violation.constraints ?? {})[0]);
  return dto;
}

function rejectUnknown(query: object, known: ReadonlySet<string>): void {
  for (const [name, value] of Object.entries(query)) {
    // The client chose the name, so quote it only if it looks like a parameter name.
    const quoted = /^[\w-]{1,64}$/.test(name) ? name : '';
    if (!known.has(name)) throw INVALID_FIELD.error(MESSAGES.unknownParameter(quoted));
    if (Array.isArray(value)) throw INVALID_FIELD.error(MESSAGES.repeatedParameter(quoted));
  }
}

/** Runs after the validation, which has a message of its own for required parameters. */
function rejectBlank(query: object): void {
  const blank = Object.entries(query).find(([, value]) => isMissing(value));
  if (blank) throw INVALID_FIELD.error(MESSAGES.blankParameter(blank[0]));
}
