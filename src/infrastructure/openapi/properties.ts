import { applyDecorators, type Type } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { MAX_INT32, type Enumeration } from '../schemas/index.js';

interface PropertyOptions {
  /** `false`: the property can be absent. */
  readonly required?: false;
  readonly nullable?: true;
  readonly isArray?: true;
  readonly format?: 'email' | 'int64' | 'uri';
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/**
 * A property that is documented but not validated, as in a response. The fields of requests use the decorators
 * of `infrastructure/validation`, such as `TextField`. A property whose example is null is nullable.
 */
function Property(
  type: object,
  description: string,
  example: unknown,
  options: PropertyOptions = {},
): PropertyDecorator {
  const documented = example === undefined ? {} : { example };
  const nullable = example === null ? { nullable: true } : {};
  return applyDecorators(
    ApiProperty({ ...type, ...nullable, ...options, description, ...documented } as ApiPropertyOptions),
    addToExample(documented),
  );
}

const EXAMPLE = Symbol('example');

/** Adds the example of a property to that of its class. Subclasses inherit the examples. */
function addToExample(documented: { readonly example?: unknown }): PropertyDecorator {
  return (prototype, name) => {
    const own = 'example' in documented ? { [name]: documented.example } : {};
    const inherited = Reflect.getMetadata(EXAMPLE, prototype) as object | undefined;
    Reflect.defineMetadata(EXAMPLE, { ...inherited, ...own }, prototype);
  };
}

/** Returns an object of this class, made of the examples of its properties. */
export function exampleOf(model: Type): object {
  return (Reflect.getMetadata(EXAMPLE, model.prototype as object) ?? {}) as object;
}

/** A string, or an array of strings with `isArray`. */
export function TextProperty(
  description: string,
  example?: string | readonly string[] | null,
  options?: PropertyOptions,
): PropertyDecorator {
  return Property({ type: String }, description, example, options);
}

/** A UUID of any version. */
export function UuidProperty(
  description: string,
  example: string | null,
  options?: PropertyOptions,
): PropertyDecorator {
  return Property({ type: String, format: 'uuid' }, description, example, options);
}

/** ISO 8601 in UTC with milliseconds. */
export function TimestampProperty(
  description: string,
  example: string | null = '2026-01-31T08:15:30.123Z',
  options?: PropertyOptions,
): PropertyDecorator {
  return Property({ type: String, format: 'date-time' }, description, example, options);
}

/** A number without a fraction, of 32 bits unless its format is `int64`. */
export function IntegerProperty(
  description: string,
  example: number | null,
  options?: PropertyOptions,
): PropertyDecorator {
  const type = { type: 'integer', ...(options?.format !== 'int64' && { maximum: MAX_INT32 }) };
  return Property(type, description, example, options);
}

/** `true` or `false`. */
export function BooleanProperty(
  description: string,
  example: boolean,
  options?: PropertyOptions,
): PropertyDecorator {
  return Property({ type: Boolean }, description, example, options);
}

/** An enumeration value, or an array of values with `isArray`. */
export function EnumProperty(
  { reference }: Pick<Enumeration, 'reference'>,
  description: string,
  example: string | readonly string[] | null,
  { isArray, ...options }: PropertyOptions = {},
): PropertyDecorator {
  const type = isArray ? { type: 'array', items: reference } : { type: 'string', allOf: [reference] };
  return Property(type, description, example, options);
}

/** Always the same string. */
export function ConstantProperty(value: string, description: string): PropertyDecorator {
  return Property({ type: String, const: value }, description, value);
}

/** An object of another class, or an array of such objects if the class is in brackets. */
export function ObjectProperty(
  type: Type | readonly [Type],
  description: string,
  { example, ...options }: PropertyOptions & { readonly example?: null } = {},
): PropertyDecorator {
  const nested = Array.isArray(type) ? [exampleOf(type[0] as Type)] : exampleOf(type as Type);
  return applyDecorators(
    Property({ type }, description, example, options),
    ...(example === undefined ? [addToExample({ example: nested })] : []),
  );
}

/**
 * Returns a base class for what RFCs define. Its properties are those of the example, and refer to the RFCs. Redeclare properties of
 * other types, such as enumerations.
 *
 * @param optional examples of the properties that can be absent
 */
export function DocumentLike<Example extends object, Optional extends object = object>(
  rfcs: string,
  example: Example,
  optional?: Optional,
): Type<Example & Partial<Optional>> {
  class Document {}
  for (const [name, value] of Object.entries({ ...example, ...optional })) {
    const options = name in example ? {} : { required: false as const };
    Property(typeLike(value), `Defined in ${rfcs}.`, value, options)(Document.prototype, name);
  }
  return Document as Type<Example & Partial<Optional>>;
}

function typeLike(value: unknown): object {
  if (Array.isArray(value)) return { type: String, isArray: true };
  if (typeof value === 'number') return { type: 'integer', format: 'int64' };
  if (typeof value === 'boolean') return { type: Boolean };
  return { type: String, ...(String(value).startsWith('https://') && { format: 'uri' }) };
}
