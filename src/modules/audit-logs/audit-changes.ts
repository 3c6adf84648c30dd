import { firstCharacters, hasAtMostCharacters } from '../../infrastructure/validation/index.js';
import type { AuditChangeResponse } from './audit-log-entry.entity.js';

/** Characters of a value. */
const MAX_VALUE_LENGTH = 256;

/**
 * Returns which values differ, in the order in which they are given. The names are those of the fields that users know; the values
 * must not be secret.
 */
export function changesBetween<Values extends object>(
  before: Partial<Values>,
  after: Partial<Values>,
): AuditChangeResponse[] {
  return Object.entries(after).flatMap(([field, value]) => {
    const [from, to] = [textOf(before[field as keyof Values]), textOf(value)];
    return from === to ? [] : [{ field, from: shortened(from), to: shortened(to) }];
  });
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return value instanceof Date
    ? value.toISOString()
    : Array.isArray(value)
      ? value.join(', ')
      : String(value);
}

function shortened(text: string | null): string | null {
  if (text === null) return null;
  return hasAtMostCharacters(text, MAX_VALUE_LENGTH)
    ? text
    : `${firstCharacters(text, MAX_VALUE_LENGTH - 1)}…`;
}
