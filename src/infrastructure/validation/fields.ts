import type { ApiPropertyOptions } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  IsArray,
  IsBoolean,
  IsEmail,
  IsIn,
  IsInt,
  IsObject,
  IsString,
  IsUrl,
  IsUUID,
  Matches,
  Max,
  Min,
} from 'class-validator';
import { ENVIRONMENTS } from '../config/index.js';
import { enumeration, MAX_INT32, type Enumeration } from '../schemas/index.js';
import {
  HasValidItems,
  IsNorthAmericanPhoneNumber,
  IsNotBefore,
  IsStorable,
  IsTimestamp,
  MaxCharacters,
} from './constraints.js';
import { Field, type FieldOptions } from './field.js';
import { MESSAGES, withMessage } from './messages.js';
import { readTimestamp, restoreOffset } from './timestamp.js';

/** RFC 5321, section 4.5.3.1.3: A path has at most 256 characters, including the angle brackets around the address. */
const MAX_EMAIL_LENGTH = 254;
export const MAX_URL_LENGTH = 2083;

interface TextOptions extends FieldOptions {
  /** `minLength` in the API document; not validated. Blank text counts as missing unless `keepsBlank` is set. */
  readonly min?: number;
  /** Maximum number of Unicode code points. */
  readonly max?: number;
  readonly format?: string | undefined;
  /** `pattern` in the API document; not validated. The default says that required text must not be blank. */
  readonly pattern?: string | undefined;
  /** Whether white space around the text is dropped. */
  readonly isTrimmed?: true;
}

/** Text with a character other than white space. */
export const NOT_BLANK = String.raw`\S`;

function patternOf({ pattern, format, required = true, in: location }: TextOptions): string | undefined {
  if (pattern !== undefined) return pattern;
  return format === undefined && required === true && location !== 'query' ? NOT_BLANK : undefined;
}

/** Drops white space around a text. It comes with what users copy from other programs, and keyboards of phones add it after a word. */
const trimmed = (value: unknown): unknown => (typeof value === 'string' ? value.trim() : value);

/** Text that can be stored. @param validators further constraints, checked after the length */
export function TextField(
  { min = 1, max, format, pattern, isTrimmed, ...options }: TextOptions,
  ...validators: PropertyDecorator[]
): PropertyDecorator {
  const schema = {
    type: String,
    format,
    minLength: min || undefined,
    maxLength: max,
    pattern: patternOf({ format, pattern, ...options }),
  } as ApiPropertyOptions;
  return Field(
    { ...options, schema, convert: isTrimmed && trimmed },
    IsString(withMessage(MESSAGES.string)),
    IsStorable(),
    ...(max === undefined ? [] : [MaxCharacters(max)]),
    ...validators,
  );
}

interface IntegerOptions extends FieldOptions {
  readonly min?: number;
  readonly max?: number;
}

/**
 * A JSON number without a fraction; in a query string or a form, digits (specification, "Messages").
 *
 * @param validators further constraints, checked after the bounds
 */
export function IntegerField(
  { min, max, ...options }: IntegerOptions,
  ...validators: PropertyDecorator[]
): PropertyDecorator {
  const format = (max ?? Infinity) > MAX_INT32 ? 'int64' : undefined;
  const schema = { type: 'integer', format, minimum: min, maximum: max } as ApiPropertyOptions;
  return Field(
    { ...options, schema, convert: options.in && integerOf },
    IsInt(withMessage(MESSAGES.integer)),
    ...(max === undefined ? [] : [Max(max, withMessage(MESSAGES.max, max))]),
    ...(min === undefined ? [] : [Min(min, withMessage(MESSAGES.min, min))]),
    ...validators,
  );
}

/** Converts digits to a number. Returns other text, and integers that a JavaScript number cannot represent exactly, unchanged. */
function integerOf(text: unknown): unknown {
  const number = typeof text === 'string' && /^-?\d{1,16}$/.test(text) ? Number(text) : undefined;
  return number !== undefined && Number.isSafeInteger(number) ? number : text;
}

const CHOICES: ReadonlyMap<unknown, boolean> = new Map([
  ['yes', true],
  ['no', false],
]);

/** A JSON Boolean; strings and numbers are rejected. In a form, `yes` or `no`. */
export function BooleanField(options: FieldOptions): PropertyDecorator {
  const convert = (value: unknown): unknown => CHOICES.get(value) ?? value;
  return Field(
    { ...options, schema: { type: Boolean }, convert: options.in === 'form' ? convert : undefined },
    IsBoolean(withMessage(MESSAGES.boolean)),
  );
}

/** One of the values of an enumeration. Enumerations of forms need no name. */
export function EnumField(
  allowed: Enumeration | readonly string[],
  options: FieldOptions,
): PropertyDecorator {
  const [values, schema] =
    'reference' in allowed
      ? [allowed.values, { enum: [...allowed.values], enumName: allowed.name }]
      : [allowed, { enum: [...allowed] }];
  return Field(
    { ...options, schema: { type: 'string', ...schema } as ApiPropertyOptions },
    IsIn(values, withMessage(MESSAGES.selected, values)),
  );
}

const MAX_VALUES = 100;

/** Values of an enumeration, as a parameter of a query that can be repeated. */
export function EnumListField({ values, reference }: Enumeration, options: FieldOptions): PropertyDecorator {
  return ArrayField({
    ...options,
    // Capabilities add values when the class of the field exists already.
    max: MAX_VALUES,
    items: reference,
    validateItem: (item, field) =>
      values.includes(item as string) ? undefined : MESSAGES.selected(field, values),
  });
}

/** A UUID of any version. */
export function UuidField(options: FieldOptions): PropertyDecorator {
  return Field(
    { ...options, schema: { type: String, format: 'uuid' }, convert: options.in && trimmed },
    // Any version and variant, as in JSON Schema: whether the ID exists is another question.
    IsUUID('loose', withMessage(MESSAGES.uuid)),
  );
}

/** An RFC 3339 timestamp, such as `2026-01-31T08:15:30Z` or `2026-01-31T08:15:30-05:00`. */
export function TimestampField(
  { notBefore, ...options }: FieldOptions & { readonly notBefore?: string },
  ...validators: PropertyDecorator[]
): PropertyDecorator {
  return Field(
    {
      ...options,
      schema: { type: String, format: 'date-time' },
      convert: options.in ? restoreOffset : readTimestamp,
    },
    IsTimestamp(),
    ...(notBefore === undefined ? [] : [IsNotBefore(notBefore)]),
    ...validators,
  );
}

/** An email address. */
export function EmailField(options: FieldOptions): PropertyDecorator {
  return TextField(
    { ...options, min: 0, max: MAX_EMAIL_LENGTH, format: 'email', isTrimmed: true },
    IsEmail({}, withMessage(MESSAGES.email)),
  );
}

const WEB_PATTERN = '^[Hh][Tt][Tt][Pp][Ss]?://';
const WEB_URL = {
  protocols: ['http', 'https'],
  require_protocol: true,
  validate_length: false,
  // Only names of hosts must not contain them, and not all do without.
  allow_underscores: true,
};

/** An http or https URL with a host name. @param validators further constraints */
export function UrlField(options: FieldOptions, ...validators: PropertyDecorator[]): PropertyDecorator {
  const isUrl = IsUrl(WEB_URL, withMessage(MESSAGES.url));
  return TextField(
    { ...options, max: MAX_URL_LENGTH, format: 'uri', pattern: WEB_PATTERN },
    isUrl,
    ...validators,
  );
}

/** ITU-T E.164: a plus sign, a country code that does not begin with 0, at most 15 digits. */
export const E164 = /^\+[1-9]\d{1,14}$/;

/** An E.164 phone number: of any country, or only valid numbers of the US and Canada. */
export function PhoneNumberField({
  countries,
  ...options
}: FieldOptions & { readonly countries: 'all' | 'US and Canada' }): PropertyDecorator {
  return Field(
    { ...options, schema: { type: String, pattern: E164.source } },
    Matches(E164, withMessage(MESSAGES.phoneNumber)),
    ...(countries === 'all' ? [] : [IsNorthAmericanPhoneNumber()]),
  );
}

interface ArrayOptions extends FieldOptions {
  readonly max: number;
  readonly items: object;
  /** Returns the message about an item that is present. */
  readonly validateItem: (item: unknown, field: string) => string | undefined;
  /** Whether items in a form can contain spaces and commas, so that each has a line of its own. */
  readonly isByLine?: boolean;
}

/** An array of 1 to `max` items; an empty array counts as missing. In a form, the words or lines of a text area; in a query, a parameter that can be repeated, or has its items separated by commas. */
export function ArrayField({
  max,
  items,
  validateItem,
  isByLine,
  ...options
}: ArrayOptions): PropertyDecorator {
  const schema = { type: 'array', items, minItems: 1, maxItems: max } as ApiPropertyOptions;
  return Field(
    {
      ...options,
      schema,
      convert:
        options.in === 'form' ? (isByLine ? linesOf : wordsOf) : options.in === 'query' ? itemsOf : undefined,
    },
    IsArray(withMessage(MESSAGES.array)),
    ArrayNotEmpty(withMessage(MESSAGES.required)),
    ArrayMaxSize(max, withMessage(MESSAGES.maxItems, max)),
    HasValidItems(validateItem),
  );
}

/** No item contains a comma. */
const itemsOf = (value: unknown): unknown => (typeof value === 'string' ? value.split(',') : value);

const partsBy =
  (separator: string | RegExp) =>
  (value: unknown): unknown =>
    typeof value === 'string'
      ? value
          .split(separator)
          .map((part) => part.trim())
          .filter(Boolean)
      : value;
const wordsOf = partsBy(/[\s,]+/);
const linesOf = partsBy('\n');

interface ObjectOptions extends FieldOptions {
  readonly members: object;
}

/** A JSON object. @param validators further constraints */
export function ObjectField(
  { members, ...options }: ObjectOptions,
  ...validators: PropertyDecorator[]
): PropertyDecorator {
  return Field(
    { ...options, schema: { type: 'object', ...members } as ApiPropertyOptions },
    IsObject(withMessage(MESSAGES.object)),
    ...validators,
  );
}

export const ENVIRONMENT = enumeration(
  'Environment',
  ENVIRONMENTS,
  'The environment. The data of the two environments are separate.',
);

/** One of the two environments. */
export function EnvironmentField(options: FieldOptions): PropertyDecorator {
  return EnumField(ENVIRONMENT, { example: 'development', ...options });
}

/** Characters. The columns that store such an identifier have this length, too. */
export const MAX_EXTERNAL_USER_ID_LENGTH = 256;

/** The client's own identifier for one of its users. */
export function ExternalUserIdField(options: Pick<FieldOptions, 'required' | 'in'> = {}): PropertyDecorator {
  return TextField({
    ...options,
    max: MAX_EXTERNAL_USER_ID_LENGTH,
    description: 'Your own identifier for the user.',
    example: 'user-8f3a',
  });
}
