import { getMetadataStorage, ValidationTypes } from 'class-validator';
import type { Type } from '@nestjs/common';
import { conditionOf, isInForm, readerOf, type ConditionalPresence } from './field.js';

type Validation = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];

/** The fields of a DTO. */
export interface DtoFields {
  readonly names: ReadonlySet<string>;
  /** Converts the value of each field before it is validated. */
  readonly readers: ReadonlyMap<string, (value: unknown) => unknown>;
  /** The names of fields that can be absent. */
  readonly optional: readonly string[];
  /** Whether unknown members may look like a field. OAuth requires that (RFC 6749, section 3.2). */
  readonly ignoresUnknown: boolean;
}

/** Cached, because every request needs them for each parameter. */
const known = new Map<unknown, readonly Validation[]>();

/** Returns the validations of a DTO in the order of its fields; none for anything else. */
export function validationsOf(target: unknown): readonly Validation[] {
  let validations = known.get(target);
  if (!validations) {
    validations =
      typeof target === 'function'
        ? getMetadataStorage().getTargetValidationMetadatas(target, '', false, false)
        : [];
    known.set(target, validations);
  }
  return validations;
}

const fields = new Map<unknown, DtoFields>();

/** Returns the fields of a DTO. */
export function fieldsOf(target: unknown): DtoFields {
  let found = fields.get(target);
  if (!found) {
    const validations = validationsOf(target);
    const conditional = validations.filter(({ type }) => type === ValidationTypes.CONDITIONAL_VALIDATION);
    const { prototype } = Object(target) as { readonly prototype: object };
    const names = new Set(validations.map(({ propertyName }) => propertyName));
    found = {
      names,
      readers: new Map([...names].map((name) => [name, readerOf(prototype, name)])),
      optional: [...new Set(conditional.map(({ propertyName }) => propertyName))],
      ignoresUnknown: [...names].some((name) => isInForm(prototype, name)),
    };
    fields.set(target, found);
  }
  return found;
}

/** Returns the fields of a DTO that are required only if another field is missing or has a certain value. */
export function conditionsOf(type: Type): [string, ConditionalPresence][] {
  return [...fieldsOf(type).names].flatMap((name) => {
    const condition = conditionOf(type.prototype as object, name);
    return condition ? [[name, condition] as [string, ConditionalPresence]] : [];
  });
}
