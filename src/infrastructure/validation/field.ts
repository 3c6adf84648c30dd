import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { registerDecorator, type ValidationArguments } from 'class-validator';
import { firstViolation, isMissing, required, wordsOf, type FieldContext, type Rule } from './rule.js';

export interface FieldOptions {
  /** Where the field is sent: in the body unless it says otherwise. */
  readonly in?: 'query';
  /** The rules for a present value, in the order in which they are reported. */
  readonly rules: readonly Rule[];
  /**
   * `false`: may be absent. `unless`: may be absent where the field of that name is present. `when`: may be
   * absent unless the field of that name has that value.
   */
  readonly required?: Presence;
  /** What the value means, where it is sent as something else. */
  readonly read?: (value: unknown) => unknown;
  /** The value of an absent field. */
  readonly default?: unknown;
  /** Whether `null` and blank text clear the field, where an absent one stays as it is: in a PATCH. */
  readonly clearable?: true;
  /** Whether the value is an object of the caller's own, whose members' names are not looked at. */
  readonly ownNames?: true;
  /** What the API document says of the field. */
  readonly document: ApiPropertyOptions;
}

type Presence = boolean | { readonly unless: string } | { readonly when: string; readonly is: string };

/** A query string has no null. */
const NULLABLE_IN = { body: { nullable: true }, query: {} };

/**
 * One field of a request: validator, normalization and documentation in one decorator. The kinds
 * of fields (`ExternalUserId`, …) are built on it; a DTO uses those.
 */
export function Field(options: FieldOptions): PropertyDecorator {
  const mandatory = options.required ?? true;
  const document = {
    ...options.document,
    ...(options.default === undefined ? {} : { default: options.default }),
  };
  return applyDecorators(
    mandatory === true
      ? ApiProperty(document)
      : ApiPropertyOptional({ ...document, ...NULLABLE_IN[options.in ?? 'body'] } as ApiPropertyOptions),
    Transform(({ value, obj, key }) => {
      if (isMissing(value)) return missingValue(value, options);
      if (options.read) return options.read(value);
      // class-transformer leaves out members that are called as something of JavaScript's own.
      return options.ownNames ? (obj as Record<string, unknown>)[key] : (value as unknown);
    }),
    validated((value, field) => {
      if (isMissing(value)) return absence(mandatory, field);
      return firstViolation(value, field, options.rules);
    }),
  );
}

function missingValue(value: unknown, options: FieldOptions): unknown {
  return options.clearable && value !== undefined ? null : options.default;
}

function absence(mandatory: Presence, field: FieldContext): string | undefined {
  if (mandatory === false) return undefined;
  if (mandatory === true) return required(field);
  if ('when' in mandatory) {
    if (field.object[mandatory.when] !== mandatory.is) return undefined;
    return `The ${field.words} field is required when the ${wordsOf(mandatory.when)} is ${mandatory.is}.`;
  }
  const other = mandatory.unless;
  if (!isMissing(field.object[other])) return undefined;
  return `The ${field.words} field is required when the ${wordsOf(other)} field is not present.`;
}

/** One class-validator constraint for the whole field, because one problem is reported per answer. */
function validated(rule: Rule): PropertyDecorator {
  return (prototype, property) => {
    const check = (value: unknown, { object }: ValidationArguments): string | undefined =>
      rule(value, { words: wordsOf(String(property)), object: object as Record<string, unknown> });
    registerDecorator({
      name: 'field',
      target: prototype.constructor,
      propertyName: String(property),
      validator: {
        validate: (value: unknown, context?: ValidationArguments) =>
          context !== undefined && check(value, context) === undefined,
        defaultMessage: (context?: ValidationArguments) =>
          (context && check(context.value, context)) ?? 'The field is invalid.',
      },
    });
  };
}
