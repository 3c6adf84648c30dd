import type { Type } from '@nestjs/common';
import { ValidationTypes, getMetadataStorage, type ValidationArguments } from 'class-validator';
import { conditionOf, isInForm, type ConditionalPresence } from './field.js';
import { displayNameOf } from './messages.js';

type Validation = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];

export interface DtoFields {
  readonly names: ReadonlySet<string>;
  readonly optional: readonly string[];
  /**
   * Whether unknown members are ignored even if they look like a misspelled field, as OAuth requires (RFC 6749, section
   * 3.2).
   */
  readonly ignoresUnknown: boolean;
}

/** Cached, because every request needs them for each parameter. */
const validationsByType = new Map<unknown, readonly Validation[]>();

/** Returns the validations of a DTO in the order of its fields; none for anything else. */
function validationsOf(target: unknown): readonly Validation[] {
  let validations = validationsByType.get(target);
  if (!validations) {
    validations =
      typeof target === 'function'
        ? getMetadataStorage().getTargetValidationMetadatas(target, '', false, false)
        : [];
    validationsByType.set(target, validations);
  }
  return validations;
}

const fieldsByType = new Map<unknown, DtoFields>();

/** Computed once per class. */
export function fieldsOf(target: unknown): DtoFields {
  let found = fieldsByType.get(target);
  if (!found) {
    const validations = validationsOf(target);
    const conditional = validations.filter(({ type }) => type === ValidationTypes.CONDITIONAL_VALIDATION);
    const { prototype } = Object(target) as { readonly prototype: object };
    const names = new Set(validations.map(({ propertyName }) => propertyName));
    found = {
      names,
      optional: [...new Set(conditional.map(({ propertyName }) => propertyName))],
      ignoresUnknown: [...names].some((name) => isInForm(prototype, name)),
    };
    fieldsByType.set(target, found);
  }
  return found;
}

type Check = (dto: object, value: unknown) => unknown;

/** Cleared by `provideConstraints`. */
const checksByType = new Map<unknown, (dto: object) => boolean>();

/**
 * Returns true only if class-validator would find no violation. If it returns false, `validateSync` decides. `validateSync` is
 * slow: for every object, it groups the validations of the class and searches all constraints for the instance of each one
 * (docs/decisions/0017-validation-pipe.md).
 */
export function isKnownValid(dto: object): boolean {
  const type = dto.constructor;
  let check = checksByType.get(type);
  if (!check) checksByType.set(type, (check = compile(type)));
  return check(dto);
}

/** Makes `isKnownValid` look up the instances of constraints again. */
export function forgetConstraints(): void {
  checksByType.clear();
}

function compile(type: unknown): (dto: object) => boolean {
  const checks = [...fieldsOf(type).names].map((name) => {
    const own = validationsOf(type).filter(({ propertyName }) => propertyName === name);
    const isCondition = (validation: Validation): boolean =>
      validation.type === ValidationTypes.CONDITIONAL_VALIDATION;
    return {
      name,
      conditions: own.filter(isCondition).map(({ constraints }) => constraints[0] as Check),
      rules: own.filter((validation) => !isCondition(validation)).map(ruleOf),
    };
  });
  return (dto) =>
    checks.every(({ name, conditions, rules }) => {
      const value = (dto as Record<string, unknown>)[name];
      return conditions.some((holds) => !holds(dto, value)) || rules.every((holds) => holds(dto, value));
    });
}

/** Returns a check that fails for every kind of validation that it does not know: `validateSync` then decides. */
function ruleOf({ type, each, validateIf, constraintCls, propertyName, constraints }: Validation): Check {
  const isSimple = type === ValidationTypes.CUSTOM_VALIDATION || type === ValidationTypes.IS_DEFINED;
  if (!isSimple || each || validateIf) return () => false;
  const validators = getMetadataStorage()
    .getTargetValidatorConstraints(constraintCls)
    .map(({ instance }) => instance);
  return (object, value) => {
    const context = {
      targetName: object.constructor.name,
      property: propertyName,
      object,
      value,
      constraints,
    };
    return validators.every((validator) => validator.validate(value, context) === true);
  };
}

/** Returns the fields of a DTO that are required only if another field is missing or has a certain value. */
export function conditionsOf(type: Type): [string, ConditionalPresence][] {
  return [...fieldsOf(type).names].flatMap((name) => {
    const condition = conditionOf(type.prototype as object, name);
    return condition ? [[name, condition] as [string, ConditionalPresence]] : [];
  });
}

/** Constraints whose messages the API document omits, because the schema states them or they are the same for every field. */
const NOT_DOCUMENTED = new Set([
  'arrayMaxSize',
  'arrayNotEmpty',
  'hasValidContents',
  'isArray',
  'isBoolean',
  'isEmail',
  'isIn',
  'isInt',
  'isObject',
  'isStorable',
  'isString',
  'isTimestamp',
  'isUrl',
  'isUuid',
  'matches',
  'max',
  'maxCharacters',
  'min',
]);

/** Returns whether a DTO has fields that are validated. */
export function hasFields(target: unknown): boolean {
  return validationsOf(target).length > 0;
}

/**
 * Returns the messages that clients get about a DTO and that its schema does not express, for the API document. For each
 * kind of message, it includes only the message about the first field.
 */
export function exampleMessages(target: unknown): string[] {
  const byKind = new Map<string, string>();
  const { optional } = fieldsOf(target);
  // People overlook conditions in a schema, so messages about conditionally required fields are included.
  const isOmitted = (name: string, property: string): boolean =>
    name === 'isDefined' ? !optional.includes(property) : NOT_DOCUMENTED.has(name);
  for (const { message, name, propertyName: property, constraints, target: owner } of validationsOf(target)) {
    if (typeof message !== 'function' || isOmitted(name ?? '', property)) continue;
    const context = { property, constraints, targetName: String(owner), object: {}, value: undefined };
    const text = message(context satisfies ValidationArguments);
    const kind = text.replaceAll(displayNameOf(property), '').replaceAll(/\d+/g, '');
    if (!byKind.has(kind)) byKind.set(kind, text);
  }
  return [...byKind.values()];
}
