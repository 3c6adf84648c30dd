import type { ValidationArguments } from 'class-validator';
import { displayNameOf } from './messages.js';
import { fieldsOf, validationsOf } from './validations.js';

/** Constraints that the schema of a field states: its type, bounds, format and values. */
const IN_SCHEMA = new Set([
  'arrayMaxSize',
  'arrayNotEmpty',
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
  'isValidInside',
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
  // Readers overlook a condition in a schema: the message about it is included.
  const isInSchema = (name: string, property: string): boolean =>
    name === 'isDefined' ? !optional.includes(property) : IN_SCHEMA.has(name);
  for (const { message, name, propertyName: property, constraints, target: owner } of validationsOf(target)) {
    if (typeof message !== 'function' || isInSchema(name ?? '', property)) continue;
    const context = { property, constraints, targetName: String(owner), object: {}, value: undefined };
    const text = message(context satisfies ValidationArguments);
    const kind = text.replaceAll(displayNameOf(property), '').replaceAll(/\d+/g, '');
    if (!byKind.has(kind)) byKind.set(kind, text);
  }
  return [...byKind.values()];
}
