import type { FieldProblem } from '../../infrastructure/errors/index.js';
import {
  Constraint,
  fieldError,
  MESSAGES,
  siblingOf,
  withProblem,
} from '../../infrastructure/validation/index.js';
import { CLOCK_TOLERANCE, DAY, periodOf, type Period } from '../../infrastructure/time/index.js';

/** Maximum number of days between start and end (specification, "Limits"). */
export const MAX_PERIOD_DAYS = 7;
/** Milliseconds. */
export const MAX_PERIOD = MAX_PERIOD_DAYS * DAY;
const TOO_LONG: FieldProblem = {
  field: 'start',
  rule: (start, days, end) => `The ${start} field must be at most ${days} days before the ${end} field.`,
  limit: MAX_PERIOD_DAYS,
  other: 'end',
};

interface Bounds {
  readonly start?: string | undefined;
  readonly end?: string | undefined;
}

/** Returns the period of a request. The default end is now, or the end of the first page. @param length the default, in milliseconds */
export function resolvedPeriod(bounds: Bounds, defaultEnd: Date, length = DAY): Required<Period> {
  const { start, end = defaultEnd } = periodOf(bounds);
  return { start: start ?? new Date(end.getTime() - length), end };
}

/**
 * Returns the period of a request, like `resolvedPeriod`.
 *
 * @throws ApiError INVALID_FIELD if the period is not valid
 */
export function validPeriod(...period: Parameters<typeof resolvedPeriod>): Required<Period> {
  const { start, end } = resolvedPeriod(...period);
  if (start > end) throw fieldError({ field: 'start', rule: MESSAGES.notAfter, other: 'end' });
  if (end.getTime() - start.getTime() > MAX_PERIOD) throw fieldError(TOO_LONG);
  return { start, end };
}

/** Returns the parameters of a link to the entries since a time: the list shows the last day by default, and at most 7 days. */
export function periodSince(time: Date): Readonly<Record<'start' | 'end', string>> {
  const start = new Date(time.getTime() - CLOCK_TOLERANCE);
  return { start: start.toISOString(), end: new Date(start.getTime() + MAX_PERIOD).toISOString() };
}

/** Rejects an end more than 7 days after the start. If either is missing, the service validates the period. */
export function IsWithinPeriod(startField: string): PropertyDecorator {
  return Constraint(
    'isWithinPeriod',
    (value, context) => {
      const start = siblingOf(context, startField);
      const length = Date.parse(value as string) - Date.parse(start as string);
      return start === undefined || length <= MAX_PERIOD;
    },
    withProblem(() => TOO_LONG),
  );
}
