import type { ValidationArguments } from 'class-validator';
import { displayNameOf } from './messages.js';
import { validationsOf } from './validations.js';

/** Type checks. Their messages are left out, because the schema of the field already shows its type. */
const TYPE_CHECKS = new Set(['isString', 'isStorable', 'isInt', 'isBoolean', 'isArray', 'isObject']);

/**
 * Returns the messages that clients get about a DTO, as examples for the API document. For each kind of message, it
 * includes only the message about the first field.
 */
export function exampleMessages(target: unknown): string[] {
  const byKind = new Map<string, string>();
  for (const { message, name, propertyName: property, constraints, target: owner } of validationsOf(target)) {
    if (typeof message !== 'function' || TYPE_CHECKS.has(name ?? '')) continue;
    const context = { property, constraints, targetName: String(owner), object: {}, value: undefined };
    const text = message(context satisfies ValidationArguments);
    const kind = text.replaceAll(displayNameOf(property), '').replaceAll(/\d+/g, '');
    if (!byKind.has(kind)) byKind.set(kind, text);
  }
  return [...byKind.values()];
}
