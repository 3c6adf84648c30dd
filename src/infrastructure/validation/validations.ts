import type { Type } from '@nestjs/common';
import { ValidationTypes, type ValidationArguments } from 'class-validator';
import { rulesOf } from '../framework-patches/index.js';
import { conditionOf, isInForm, isList, type ConditionalPresence } from './field.js';
import { displayNameOf } from './messages.js';

export interface DtoFields {
  readonly names: ReadonlySet<string>;
  /** The parameters of a query that can be repeated. */
  readonly repeatable: ReadonlySet<string>;
  readonly optional: readonly string[];
  /**
   * Whether unknown members are ignored even if they look like a misspelled field, as OAuth requires (RFC 6749, section
   * 3.2).
   */
  readonly ignoresUnknown: boolean;
}

const fieldsByType = new Map<unknown, DtoFields>();

/** Computed once per class. */
export function fieldsOf(target: unknown): DtoFields {
  let found = fieldsByType.get(target);
  if (!found) {
    const rules = rulesOf(target);
    const conditional = rules.filter(({ type }) => type === ValidationTypes.CONDITIONAL_VALIDATION);
    const { prototype } = Object(target) as { readonly prototype: object };
    const names = new Set(rules.map(({ propertyName }) => propertyName));
    found = {
      names,
      repeatable: new Set([...names].filter((name) => isList(prototype, name))),
      optional: [...new Set(conditional.map(({ propertyName }) => propertyName))],
      ignoresUnknown: [...names].some((name) => isInForm(prototype, name)),
    };
    fieldsByType.set(target, found);
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

/** Constraints whose messages the API document omits, because the schema states them or they are the same for every field. */
const NOT_DOCUMENTED = new Set([
  'arrayMaxSize',
  'arrayNotEmpty',
  'hasValidContents',
  'hasValidItems',
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
  return rulesOf(target).length > 0;
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
  for (const { message, name, propertyName: property, constraints, target: owner } of rulesOf(target)) {
    if (typeof message !== 'function' || isOmitted(name ?? '', property)) continue;
    const context = { property, constraints, targetName: String(owner), object: {}, value: undefined };
    const text = message(context satisfies ValidationArguments);
    const kind = text.replaceAll(displayNameOf(property), '').replaceAll(/\d+/g, '');
    if (!byKind.has(kind)) byKind.set(kind, text);
  }
  return [...byKind.values()];
}
