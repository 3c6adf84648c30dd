import type { INestApplicationContext } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { useContainer, ValidateBy, type ValidationArguments, type ValidationOptions } from 'class-validator';
import { forgetConstraints } from '../framework-patches/index.js';
import { isNorthAmerican } from '../phone-numbers/index.js';
import { MESSAGES, withMessage, withProblem, displayNameOf } from './messages.js';
import { hasAtMostCharacters, isMissing, isStorable } from './text.js';
import { isTimestamp } from './timestamp.js';

/**
 * Makes class-validator use the constraint classes that are Nest providers, so that they can inject dependencies.
 * class-validator has one container per process, so the last application that calls this function wins.
 */
export function provideConstraints(app: INestApplicationContext): void {
  const providers = app.get(DiscoveryService, { strict: false }).getProviders();
  const instances = new Map(
    providers.map(({ metatype, instance }) => [metatype as unknown, instance as unknown]),
  );
  forgetConstraints();
  useContainer({ get: (type: unknown) => instances.get(type) }, { fallback: true });
}

/** Returns the value of another field of the object that is validated. */
export function siblingOf(context: ValidationArguments | undefined, field: string): unknown {
  return (context?.object as Record<string, unknown> | undefined)?.[field];
}

/** Creates a constraint from a function. */
export function Constraint(
  name: string,
  validate: (value: unknown, context?: ValidationArguments) => boolean,
  options: ValidationOptions,
): PropertyDecorator {
  return ValidateBy({ name, validator: { validate } }, options);
}

/** Requires text that PostgreSQL can store. */
export function IsStorable(): PropertyDecorator {
  return Constraint('isStorable', (value) => isStorable(value as string), withMessage(MESSAGES.storable));
}

/** Limits the length in code points; class-validator's `MaxLength` counts UTF-16 units. */
export function MaxCharacters(limit: number): PropertyDecorator {
  const validate = (value: unknown): boolean => hasAtMostCharacters(value as string, limit);
  return Constraint('maxCharacters', validate, withMessage(MESSAGES.maxCharacters, limit));
}

/** Requires an RFC 3339 timestamp. */
export function IsTimestamp(): PropertyDecorator {
  return Constraint('isTimestamp', isTimestamp, withMessage(MESSAGES.timestamp));
}

/** Rejects a time before the time in another field. Declare the other field first, so that its own errors are reported first. */
export function IsNotBefore(other: string): PropertyDecorator {
  return Constraint(
    'isNotBefore',
    (value, context) => {
      const start = siblingOf(context, other);
      return isMissing(start) || Date.parse(value as string) >= Date.parse(start as string);
    },
    withProblem(({ property }) => ({ field: other, rule: MESSAGES.notAfter, other: property })),
  );
}

/** Requires a number of the US or Canada. class-validator's `IsPhoneNumber` accepts either one country or all. */
export function IsNorthAmericanPhoneNumber(): PropertyDecorator {
  return Constraint(
    'isNorthAmericanPhoneNumber',
    (value) => isNorthAmerican(value as string),
    withMessage(() => 'The phone number must be a valid number in a supported country. Supported: US, CA.'),
  );
}

/**
 * Validates the contents of a value.
 *
 * @param validate returns the message about the first problem
 */
export function HasValidContents(
  validate: (value: unknown, field: string) => string | undefined,
): PropertyDecorator {
  return Constraint(
    'hasValidContents',
    (value, context) => validate(value, displayNameOf(context?.property ?? '')) === undefined,
    withProblem(({ value, property }) => ({
      field: property,
      rule: (field) => validate(value, field) ?? '',
    })),
  );
}

/**
 * Validates the items of an array: class-validator's `each` does not report which item is invalid.
 *
 * @param validateItem returns the message about an item that is present
 */
export function HasValidItems(
  validateItem: (item: unknown, name: string) => string | undefined,
): PropertyDecorator {
  const problemOf = (item: unknown, name: string): string | undefined =>
    isMissing(item) ? MESSAGES.required(name) : validateItem(item, name);
  const findInvalid = (items: unknown): number =>
    (items as readonly unknown[]).findIndex((item) => problemOf(item, '') !== undefined);
  return Constraint(
    'hasValidItems',
    (value) => findInvalid(value) < 0,
    withProblem(({ value, property }) => {
      const index = findInvalid(value);
      const item = (value as readonly unknown[])[index];
      return { field: property, rule: (name) => problemOf(item, name) ?? '', item: { index, value: item } };
    }),
  );
}
