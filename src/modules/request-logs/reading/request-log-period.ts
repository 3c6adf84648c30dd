import { Constraint, siblingOf } from '../../../infrastructure/validation/index.js';
import { DAY, periodOf, type Period } from '../../../infrastructure/time/index.js';

/** Maximum number of days between start and end (specification, "Limits"). */
export const MAX_PERIOD_DAYS = 7;
const DEFAULT_PERIOD = DAY;
const TOO_LONG = `The start field must be at most ${MAX_PERIOD_DAYS} days before the end field.`;

interface Bounds {
  readonly start?: string | undefined;
  readonly end?: string | undefined;
}

/** Returns the period of a request. The default end is now, or the end of the first page; the default start is a day earlier. */
export function resolvedPeriod(bounds: Bounds, defaultEnd: Date): Required<Period> {
  const { start, end = defaultEnd } = periodOf(bounds);
  return { start: start ?? new Date(end.getTime() - DEFAULT_PERIOD), end };
}

/** Returns the error message about an invalid period, or undefined if the period is valid. */
export function validatePeriod({ start, end }: Required<Period>): string | undefined {
  const length = end.getTime() - start.getTime();
  if (length < 0) return 'The start field must not be after the end field.';
  return length > MAX_PERIOD_DAYS * DAY ? TOO_LONG : undefined;
}

/** Rejects an end more than 7 days after the start. If either is missing, the service validates the period. */
export function IsWithinPeriod(startField: string): PropertyDecorator {
  return Constraint(
    'isWithinPeriod',
    (value, context) => {
      const start = siblingOf(context, startField);
      const length = Date.parse(value as string) - Date.parse(start as string);
      return start === undefined || length <= MAX_PERIOD_DAYS * DAY;
    },
    { message: () => TOO_LONG },
  );
}
