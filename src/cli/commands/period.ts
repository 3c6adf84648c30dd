import { OperatorError } from '../../infrastructure/errors/index.js';
import { isTimestamp } from '../../infrastructure/validation/index.js';

/** The options `--start` and `--end`. */
export interface PeriodOptions {
  readonly start?: string;
  readonly end?: string;
}

/** @throws OperatorError when one is no time, or they are in the wrong order */
export function requirePeriod({ start, end }: PeriodOptions): void {
  for (const [words, value] of Object.entries({ start, end })) {
    const message = value === undefined ? undefined : isTimestamp(value, { words, object: {} });
    if (message !== undefined) throw new OperatorError(message);
  }
  if (start !== undefined && end !== undefined && Date.parse(start) > Date.parse(end))
    throw new OperatorError('The start must not be after the end.');
}
