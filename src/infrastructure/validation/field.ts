import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsDefined, IsOptional, ValidateIf } from 'class-validator';
import { MESSAGES, withMessage, withProblem } from './messages.js';
import { isMissing } from './text.js';

export interface FieldOptions {
  /** For the API document. A form of a page describes its fields itself. */
  readonly description?: string;
  readonly example?: unknown;
  /** Where the field is sent: in a JSON body by default. `path`: in the path, which the operation documents. `form`: unknown parameters of the form are ignored. */
  readonly in?: 'query' | 'form' | 'path';
  /**
   * `false`: optional. `unless`: required when the field of that name is missing. `when` and `is`: required when the
   * field named by `when` has the value `is`.
   */
  readonly required?: Presence;
  readonly default?: unknown;
  /** Whether `null` and blank text clear the field and only an absent field keeps its value, as in a PATCH. */
  readonly clearable?: true;
  /** Whether blank text is validated like other text. By default, it counts as missing. */
  readonly keepsBlank?: true;
}

export type ConditionalPresence =
  { readonly unless: string } | { readonly when: string; readonly is: string };
type Presence = boolean | ConditionalPresence;

export interface FieldDefinition extends FieldOptions {
  readonly schema: ApiPropertyOptions;
  /** Converts a present value before it is validated. Objects and arrays are not converted. */
  readonly convert?: ((value: unknown) => unknown) | undefined;
}

const FIELD = 'field of a request';

/** Returns how a property of a request is declared; undefined if it is no field. */
export function fieldOf(target: object, property: string): FieldDefinition | undefined {
  return Reflect.getMetadata(FIELD, target, property) as FieldDefinition | undefined;
}

/** Returns when the field is required, if that depends on another field. */
export function conditionOf(target: object, property: string): ConditionalPresence | undefined {
  const presence = fieldOf(target, property)?.required;
  return typeof presence === 'object' ? presence : undefined;
}

/** Returns whether the field is a parameter of a form. */
export function isInForm(target: object, property: string): boolean {
  return fieldOf(target, property)?.in === 'form';
}

/** Returns whether the field is an array. */
export function isList(target: object, property: string): boolean {
  return fieldOf(target, property)?.schema.type === 'array';
}

/** Fields of a query string, a form or a path cannot be null. */
const NULLABLE_IN = { body: { nullable: true }, form: {}, query: {}, path: {} };

/**
 * One field of a request: documentation, normalization and validators in one decorator. The validators run in the
 * order in which they are given, and the first violation is reported. The kinds of fields (`TextField`, …) are built
 * on this decorator.
 */
export function Field(field: FieldDefinition, ...validators: PropertyDecorator[]): PropertyDecorator {
  return applyDecorators(
    documented(field),
    Reflect.metadata(FIELD, field),
    Transform(({ value }: { value: unknown }) => {
      if (isMissing(value) && !(field.keepsBlank && typeof value === 'string'))
        return field.clearable && value !== undefined ? null : field.default;
      return field.convert ? field.convert(value) : value;
    }),
    ...presence(field.required ?? true),
    ...validators,
  );
}

function documented(field: FieldDefinition): PropertyDecorator {
  if (field.description === undefined && field.in !== 'form')
    throw new Error('A field of the API needs a description, for the API document');
  const { example, default: fallback, required = true } = field;
  const document = {
    ...field.schema,
    description: descriptionOf(field),
    example,
    default: field.in === 'query' ? fallback : undefined,
  } as ApiPropertyOptions;
  if (required === true) return ApiProperty(document);
  return ApiPropertyOptional({ ...document, ...NULLABLE_IN[field.in ?? 'body'] } as ApiPropertyOptions);
}

/** Client generators treat a body field with `default` as required, so the default is stated in the description instead. */
function descriptionOf({ description = '', default: fallback, in: location }: FieldDefinition): string {
  if (fallback === undefined || location === 'query' || /\bdefault\b/.test(description)) return description;
  return `${description} The default is \`${String(fallback)}\`.`;
}

/** Returns the validators that require a value. Blank text is `undefined` or `null` here, because the field was converted first. */
function presence(required: Presence): PropertyDecorator[] {
  if (required === false) return [IsOptional()];
  if (required === true) return [IsDefined(withMessage(MESSAGES.required))];
  const [other, isRequired, condition] =
    'when' in required
      ? [required.when, (value: unknown) => value === required.is, `is ${required.is}`]
      : [required.unless, isMissing, 'field is not present'];
  const rule = (field: string, _limit: unknown, otherField: string): string =>
    `The ${field} field is required when the ${otherField} ${condition}.`;
  return [
    ValidateIf((object: Record<string, unknown>, value) => !isMissing(value) || isRequired(object[other])),
    IsDefined(withProblem(({ property }) => ({ field: property, rule, other }))),
  ];
}
