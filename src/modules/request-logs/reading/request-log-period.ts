import { DAY, periodOf, type Period } from '../../../infrastructure/time/index.js';

/** Days between start and end (specification, "Limits"). */
export const MAX_PERIOD_DAYS = 7;
const DEFAULT_PERIOD = DAY;

interface Bounds {
  readonly start?: string | undefined;
  readonly end?: string | undefined;
}

/** The period that a request means: it ends now, or where it ended for the first page, and begins a day before that. */
export function resolvedPeriod(bounds: Bounds, defaultEnd: Date): Required<Period> {
  const { start, end = defaultEnd } = periodOf(bounds);
  return { start: start ?? new Date(end.getTime() - DEFAULT_PERIOD), end };
}

/** What is wrong with a period; `undefined` when nothing is. */
export function validatePeriod({ start, end }: Required<Period>): string | undefined {
  const length = end.getTime() - start.getTime();
  if (length < 0) return 'The start field must not be after the end field.';
  return length > MAX_PERIOD_DAYS * DAY
    ? `The start field must be at most ${MAX_PERIOD_DAYS} days before the end field.`
    : undefined;
}
