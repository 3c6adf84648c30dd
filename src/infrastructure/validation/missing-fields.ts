import type { ValidationError } from 'class-validator';
import { displayNameOf } from './messages.js';

const reportingAll = new WeakSet<object>();
const list = new Intl.ListFormat('en-US');

/** The context of the violation of a field that is required only without another field. */
interface MissingContext {
  readonly alternative?: string;
}

/** Class decorator of a form for people: the message about a missing field names all missing fields at once. */
export function ReportAllMissingFields(): ClassDecorator {
  return (target) => {
    reportingAll.add(target);
  };
}

/**
 * Returns the message about all missing fields of a DTO with `@ReportAllMissingFields()`, if the first problem is a
 * missing field and there are several.
 */
export function messageAboutMissing(
  target: object,
  violations: readonly ValidationError[],
): string | undefined {
  if (!isMissingField(violations[0]) || !reportingAll.has(target)) return undefined;
  const names: string[] = [];
  const covered = new Set<string>();
  for (const { property, contexts } of violations.filter(isMissingField)) {
    if (covered.has(property)) continue;
    const { alternative } = (contexts?.['isDefined'] ?? {}) as MissingContext;
    names.push(
      displayNameOf(property) + (alternative === undefined ? '' : ` (or ${displayNameOf(alternative)})`),
    );
    if (alternative !== undefined) covered.add(alternative);
  }
  return names.length > 1 ? `The ${list.format(names)} fields are required.` : undefined;
}

function isMissingField(violation: ValidationError | undefined): boolean {
  return violation?.constraints?.['isDefined'] !== undefined;
}
